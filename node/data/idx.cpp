#include "node/data/idx.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace convoy::data {
namespace {

constexpr std::uint32_t kLabelsMagic = 0x00000801;        // unsigned bytes, one dimension
constexpr std::uint32_t kImagesMagic = 0x00000803;        // count, rows, columns
constexpr std::uint32_t kColourImagesMagic = 0x00000804;  // count, channels, rows, columns
constexpr std::int64_t kMaxExtent = 1 << 16;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 40;

// What lies there: a file type of stat(), 0 for nothing.
mode_t type_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & S_IFMT : 0;
}

// A file that is read from begin to end, through zlib, which passes what is not gzip as it is.
class Input {
 public:
  static Result<Input> open(const std::string& path) {
    std::string found = path;
    if (type_of(path) == 0 && type_of(path + ".gz") != 0) found += ".gz";
    // Opening a pipe would wait for somebody to write to it.
    if (const mode_t type = type_of(found); type != 0 && type != S_IFREG) {
      return Error{ErrorCode::kIo, found + ": cannot be read: it is " +
                                       (type == S_IFDIR ? "a folder" : "no regular file") +
                                       ", where IDX data should be"};
    }
    errno = 0;
    gzFile file = gzopen(found.c_str(), "rb");
    if (file == nullptr) {
      const int error = errno != 0 ? errno : ENOMEM;
      return Error{ErrorCode::kIo, found + ": cannot be opened: " + std::strerror(error)};
    }
    gzbuffer(file, 1 << 18);
    return Input(std::move(found), file);
  }

  const std::string& path() const { return path_; }

  // Bytes read, fewer than asked for only at the end of the file.
  Result<std::size_t> read(std::span<std::uint8_t> out) {
    std::size_t done = 0;
    while (done < out.size()) {
      const auto want = static_cast<unsigned>(std::min<std::size_t>(out.size() - done, 1 << 20));
      errno = 0;
      const int got = gzread(file_.get(), out.data() + done, want);
      int zlib = Z_OK;
      const char* words = gzerror(file_.get(), &zlib);
      if (zlib == Z_BUF_ERROR) {
        return corrupt("the gzip stream is cut short: fetch the file again");
      }
      if (got < 0 || zlib < 0) {
        if (zlib == Z_ERRNO)
          return Error{ErrorCode::kIo, path_ + ": cannot be read: " + std::strerror(errno)};
        return corrupt("the gzip stream is damaged (" + std::string(words) + "): fetch the file again");
      }
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  Error corrupt(const std::string& what) const { return Error{ErrorCode::kCorrupt, path_ + ": " + what}; }

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose_r(file); }
  };

  Input(std::string path, gzFile file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

Result<std::uint32_t> read_word(Input& input) {
  std::array<std::uint8_t, 4> bytes{};
  const auto got = input.read(bytes);
  if (!got) return got.error();
  if (*got != bytes.size()) return input.corrupt("ends inside its header: it is no IDX file, or cut short");
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 |
         bytes[3];
}

// Exactly `size` bytes and then the end. Memory grows with what arrives, not with what the header says.
Result<std::vector<std::uint8_t>> read_body(Input& input, std::int64_t size) {
  constexpr std::int64_t kBlock = std::int64_t{16} << 20;
  std::vector<std::uint8_t> bytes;
  while (static_cast<std::int64_t>(bytes.size()) < size) {
    const std::size_t before = bytes.size();
    bytes.resize(before +
                 static_cast<std::size_t>(std::min(kBlock, size - static_cast<std::int64_t>(before))));
    const auto got = input.read(std::span(bytes).subspan(before));
    if (!got) return got.error();
    if (before + *got < bytes.size()) {
      return input.corrupt("holds " + std::to_string(before + *got) +
                           " bytes of items where its header says " + std::to_string(size) +
                           ": it is cut short");
    }
  }
  std::array<std::uint8_t, 1> more{};
  const auto got = input.read(more);  // also makes zlib compare its checksum
  if (!got) return got.error();
  if (*got != 0)
    return input.corrupt("goes on after the " + std::to_string(size) + " bytes that its header says");
  return bytes;
}

std::string hex(std::uint32_t word) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", word);
  return text.data();
}

}  // namespace

Result<IdxImages> read_idx_images(const std::string& path) {
  auto input = Input::open(path);
  if (!input) return input.error();
  const auto magic = read_word(*input);
  if (!magic) return magic.error();
  if (*magic != kImagesMagic && *magic != kColourImagesMagic) {
    return input->corrupt("starts with " + hex(*magic) +
                          ", while IDX images start with 0x00000803 or 0x00000804");
  }
  std::array<std::int64_t, 4> sizes{0, 1, 0, 0};  // count, channels, height, width
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i == 1 && *magic == kImagesMagic) continue;
    const auto word = read_word(*input);
    if (!word) return word.error();
    sizes[i] = *word;
  }
  const auto [count, channels, height, width] = sizes;
  if (count == 0) return input->corrupt("holds no images");
  if (channels < 1 || height < 1 || width < 1 || channels > kMaxExtent || height > kMaxExtent ||
      width > kMaxExtent || channels * height > kMaxBytes / width ||
      channels * height * width > kMaxBytes / count) {
    return input->corrupt("its header says images of " + std::to_string(channels) + " x " +
                          std::to_string(height) + " x " + std::to_string(width) + ", " +
                          std::to_string(count) + " of them");
  }
  auto pixels = read_body(*input, count * channels * height * width);
  if (!pixels) return pixels.error();
  IdxImages images;
  images.count = count;
  images.channels = static_cast<int>(channels);
  images.height = static_cast<int>(height);
  images.width = static_cast<int>(width);
  images.pixels = std::move(*pixels);
  return images;
}

Result<std::vector<std::uint8_t>> read_idx_labels(const std::string& path) {
  auto input = Input::open(path);
  if (!input) return input.error();
  const auto magic = read_word(*input);
  if (!magic) return magic.error();
  if (*magic != kLabelsMagic) {
    return input->corrupt("starts with " + hex(*magic) + ", while IDX labels start with 0x00000801");
  }
  const auto count = read_word(*input);
  if (!count) return count.error();
  if (*count == 0) return input->corrupt("holds no labels");
  return read_body(*input, *count);
}

}  // namespace convoy::data

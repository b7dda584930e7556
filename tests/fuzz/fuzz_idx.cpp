// libFuzzer target: no IDX file, raw or gzip, does harm, and what is read has the size that it says. Input: a
// byte of which bit 0 tells images from labels and bit 1 asks for gzip around the rest, so that what is
// behind a checksum is reached as well; then the file.
#include <zlib.h>

#include <cstdint>
#include <span>
#include <vector>

#include "messages/base/check.h"
#include "node/data/idx.h"
#include "tests/fuzz/memory_file.h"

namespace convoy::data {
namespace {

std::vector<std::uint8_t> gzipped(std::span<const std::uint8_t> bytes) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  CONVOY_CHECK(deflateInit2(&stream, 1, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK, "no zlib");
  std::vector<std::uint8_t> out(deflateBound(&stream, bytes.size()));
  stream.next_in = const_cast<std::uint8_t*>(bytes.data());
  stream.avail_in = static_cast<unsigned>(bytes.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<unsigned>(out.size());
  CONVOY_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "does not fit");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

void read_images(const std::string& path) {
  const auto images = read_idx_images(path);
  if (!images) {
    CONVOY_CHECK(!images.error().message.empty(), "a refusal without words");
    return;
  }
  CONVOY_CHECK(images->count > 0 && images->channels > 0 && images->height > 0 && images->width > 0, "empty");
  const std::int64_t size = images->count * images->channels * images->height * images->width;
  CONVOY_CHECK(static_cast<std::int64_t>(images->pixels.size()) == size, "not the size that it says");
}

void read_labels(const std::string& path) {
  const auto labels = read_idx_labels(path);
  CONVOY_CHECK(labels.ok() ? !labels->empty() : !labels.error().message.empty(), "neither labels nor words");
}

}  // namespace
}  // namespace convoy::data

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy::data;
  static convoy::testing::MemoryFile file;
  if (size == 0) return 0;
  const std::uint8_t kind = data[0];
  const std::span rest(data + 1, size - 1);
  if ((kind & 2) != 0)
    file.hold(gzipped(rest));
  else
    file.hold(rest);
  if ((kind & 1) != 0)
    read_images(file.path());
  else
    read_labels(file.path());
  return 0;
}

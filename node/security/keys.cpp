#include "node/security/keys.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

namespace convoy {
namespace {

constexpr std::size_t kKeyLength = 40;
constexpr std::string_view kAlphabet =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

std::string system_error(int error) {
  return std::string(strerrordesc_np(error) != nullptr ? strerrordesc_np(error) : "unknown error") +
         ", errno " + std::to_string(error);
}

// The sentence after "a key ..."; empty when it is well formed.
std::string what_is_wrong(std::string_view text) {
  if (text.size() != kKeyLength) return "has 40 characters, this has " + std::to_string(text.size());
  for (const char c : text)
    if (kAlphabet.find(c) == std::string_view::npos)
      return std::string("is Z85 text, in which '") + c + "' does not occur";
  std::uint8_t bytes[32];
  if (zmq_z85_decode(bytes, std::string(text).c_str()) == nullptr)
    return "is Z85 text of 32 bytes, this is not";
  return {};
}

std::string_view trim(std::string_view line) {
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

Result<PublicKey> PublicKey::parse(std::string_view text) {
  const std::string wrong = what_is_wrong(text);
  if (!wrong.empty())
    return Error{ErrorCode::kUsage, "'" + std::string(text) + "' is not a key: a key " + wrong};
  return PublicKey(std::string(text));
}

Result<SecretKey> SecretKey::parse(std::string_view text) {
  const std::string wrong = what_is_wrong(text);
  // Without the text: it may be a secret with a slip in it.
  if (!wrong.empty()) return Error{ErrorCode::kUsage, "not a secret key: a key " + wrong};
  return SecretKey(std::string(text));
}

Result<KeyPair> generate_keys() {
  char public_text[kKeyLength + 1];
  char secret_text[kKeyLength + 1];
  if (zmq_curve_keypair(public_text, secret_text) != 0)
    return Error{ErrorCode::kUnsupported, "this libzmq was built without CURVE"};
  Result<PublicKey> public_key = PublicKey::parse(public_text);
  Result<SecretKey> secret_key = SecretKey::parse(secret_text);
  if (!public_key) return public_key.error();
  if (!secret_key) return secret_key.error();
  return KeyPair{std::move(*public_key), std::move(*secret_key)};
}

Result<KeyPair> keys_of(const SecretKey& secret) {
  char public_text[kKeyLength + 1];
  if (zmq_curve_public(public_text, secret.text().c_str()) != 0)
    return Error{ErrorCode::kUnsupported, "this libzmq was built without CURVE"};
  Result<PublicKey> public_key = PublicKey::parse(public_text);
  if (!public_key) return public_key.error();
  return KeyPair{std::move(*public_key), secret};
}

Result<void> write_key_file(const std::string& path, const KeyPair& keys) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    const int error = errno;
    return Error{
        ErrorCode::kIo,
        "cannot write the key file " + path + " (" + system_error(error) + ")" +
            (error == EEXIST ? "; it holds a key already: move it away first, or take another name" : "")};
  }
  const std::string text =
      "# Secret key of a convoy node. Keep it on this machine.\n# Its public key: " + keys.public_key.text() +
      "\n" + keys.secret_key.text() + "\n";
  // The mode given to open() is subject to the umask, which can only take bits away that we do not want
  // anyway.
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    written += static_cast<std::size_t>(n);
  }
  const int write_error = errno;
  if (written < text.size() || ::fsync(fd) != 0) {
    const int error = written < text.size() ? write_error : errno;
    ::close(fd);
    ::unlink(path.c_str());
    return Error{ErrorCode::kIo, "cannot write the key file " + path + " (" + system_error(error) + ")"};
  }
  ::close(fd);
  return {};
}

Result<KeyPair> read_key_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (fd < 0 || ::fstat(fd, &status) != 0) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    return Error{ErrorCode::kUsage, "cannot read the key file " + path + " (" + system_error(error) +
                                        "); `convoy keygen` writes one"};
  }
  if ((status.st_mode & 077) != 0) {
    ::close(fd);
    return Error{ErrorCode::kUsage, "the key file " + path +
                                        " can be read by others than its owner; type: chmod 600 " + path +
                                        ", and think of the key as known if others had access"};
  }
  std::string text(4096, '\0');
  const ssize_t n = ::read(fd, text.data(), text.size());
  ::close(fd);
  if (n < 0) return Error{ErrorCode::kIo, "cannot read the key file " + path};
  text.resize(static_cast<std::size_t>(n));

  std::optional<SecretKey> secret;
  int line_number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = trim(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    ++line_number;
    // A Z85 key may begin with '#', but is never followed by a space.
    if (line.empty() || line.starts_with("# ") || line == "#") continue;
    const Result<SecretKey> key = SecretKey::parse(line);
    if (!key)
      return Error{ErrorCode::kUsage, path + ":" + std::to_string(line_number) + ": " + key.error().message};
    if (secret)
      return Error{ErrorCode::kUsage,
                   path + ":" + std::to_string(line_number) + ": a second key; one is allowed"};
    secret = *key;
  }
  if (!secret) return Error{ErrorCode::kUsage, "the key file " + path + " holds no key"};
  return keys_of(*secret);
}

Result<std::vector<PublicKey>> read_allowed_keys(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    return Error{ErrorCode::kUsage,
                 "cannot read the list of allowed keys " + path + " (" + system_error(errno) + ")"};
  std::vector<PublicKey> keys;
  std::string errors;
  std::string text;
  for (int line_number = 1; std::getline(file, text); ++line_number) {
    std::string_view line = trim(text);
    // A comment stands alone or after a key; within a key '#' is a character as any other.
    if (line.starts_with('#') && line.size() != kKeyLength) continue;
    if (line.starts_with("# ")) continue;
    if (line.size() > kKeyLength && trim(line.substr(kKeyLength)).starts_with('#'))
      line = line.substr(0, kKeyLength);
    if (line.empty()) continue;
    Result<PublicKey> key = PublicKey::parse(line);
    if (key)
      keys.push_back(std::move(*key));
    else
      errors += (errors.empty() ? "" : "\n") + path + ":" + std::to_string(line_number) + ": " +
                key.error().message;
  }
  if (!errors.empty()) return Error{ErrorCode::kUsage, errors};
  return keys;
}

bool requires_encryption(std::string_view address) {
  std::string host(address.substr(0, address.rfind(':')));
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host == "localhost") return false;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) != 127;
  in6_addr v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) {
    if (IN6_IS_ADDR_LOOPBACK(&v6)) return false;
    if (IN6_IS_ADDR_V4MAPPED(&v6)) return v6.s6_addr[12] != 127;
  }
  return true;
}

}  // namespace convoy

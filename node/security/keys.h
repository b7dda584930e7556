// CURVE keys: pairs that prove who a node is, as Z85 text of 40 characters, and the rule when they are
// needed.
//
// Values; any thread. A secret key never leaves the machine that made it: it is in its key file (mode 0600)
// or node file, and in no message.
#pragma once

#include <compare>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "messages/base/result.h"

namespace convoy {

// Z85 text of 32 bytes. Made by parse() or generate_keys() only, so it is always well formed.
class PublicKey {
 public:
  static Result<PublicKey> parse(std::string_view text);
  const std::string& text() const { return text_; }

  friend auto operator<=>(const PublicKey&, const PublicKey&) = default;
  friend std::ostream& operator<<(std::ostream& out, const PublicKey& key) { return out << key.text_; }

 private:
  explicit PublicKey(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// Not printable on purpose.
class SecretKey {
 public:
  static Result<SecretKey> parse(std::string_view text);
  const std::string& text() const { return text_; }

  friend bool operator==(const SecretKey&, const SecretKey&) = default;

 private:
  explicit SecretKey(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

struct KeyPair {
  PublicKey public_key;
  SecretKey secret_key;

  friend bool operator==(const KeyPair&, const KeyPair&) = default;
};

Result<KeyPair> generate_keys();

// The pair that belongs to a secret key.
Result<KeyPair> keys_of(const SecretKey& secret);

// A key file holds the secret key alone, on one line; lines that start with `#` are comments. Written with
// mode 0600, never over an existing file. Refused when anybody but the owner may read it.
Result<void> write_key_file(const std::string& path, const KeyPair& keys);
Result<KeyPair> read_key_file(const std::string& path);

// Public keys, one a line, `#` starts a comment. Every bad line is named in the error.
Result<std::vector<PublicKey>> read_allowed_keys(const std::string& path);

// True unless the host of "host:port" is loopback: 127.0.0.0/8, ::1, or the name localhost. Asks no name
// server, so every other name counts as not loopback.
bool requires_encryption(std::string_view address);

}  // namespace convoy

// libFuzzer target: what reaches a transport before anybody is known does no harm: greetings, routing ids,
// requests about keys; and addresses as people and peers write them. Input: a byte that tells which, then the
// bytes; those of a greeting or request are cut into frames where a zero byte is.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/base/check.h"
#include "node/security/keys.h"
#include "node/security/zap.h"
#include "node/transport/endpoint.h"
#include "node/transport/hello.h"

namespace convoy {
namespace {

std::vector<Frame> frames_of(std::string_view bytes, char cut) {
  std::vector<Frame> frames;
  while (true) {
    const std::string_view frame = bytes.substr(0, bytes.find(cut));
    frames.push_back(Frame::copy_of(std::as_bytes(std::span(frame))));
    if (frame.size() == bytes.size()) return frames;
    bytes.remove_prefix(frame.size() + 1);
  }
}

void greeting(std::string_view bytes) {
  const WireFrames frames{Frame(), Frame::copy_of(std::as_bytes(std::span(bytes)))};
  const auto hello = decode_hello(frames);
  CONVOY_CHECK(hello.ok() || !hello.error().message.empty(), "a refusal without words");
  if (hello) CONVOY_CHECK(*decode_hello(encode_hello(*hello)) == *hello, "changed on the way");
  (void)decode_hello(frames_of(bytes, '\n'));
}

void request_about_a_key(std::string_view bytes) {
  const auto asked = parse_zap(frames_of(bytes, '\n'));
  if (!asked) return;
  CONVOY_CHECK(zap_reply(asked->id, false).size() == 6, "an answer that libzmq does not take");
}

void address(std::string_view text) {
  const auto endpoint = parse_endpoint(text);
  if (!endpoint) {
    CONVOY_CHECK(!endpoint.error().message.empty(), "a refusal without words");
    return;
  }
  const auto again = parse_endpoint(to_string(*endpoint));
  CONVOY_CHECK(again.ok() && *again == *endpoint, "changed on the way: ", to_string(*endpoint));
  // Others would ask a name server.
  if (is_numeric(*endpoint)) (void)resolve(*endpoint);
}

}  // namespace
}  // namespace convoy

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      greeting(rest);
      break;
    case 1:
      request_about_a_key(rest);
      break;
    case 2:
      address(rest);
      break;
    case 3:
      if (const auto peer = peer_of_routing_id(std::string(rest)))
        CONVOY_CHECK(routing_id(*peer) == rest, "another peer's id");
      break;
    default:
      if (const auto key = PublicKey::parse(std::string(rest)))
        CONVOY_CHECK(key->text() == rest, "another key");
      break;
  }
  return 0;
}

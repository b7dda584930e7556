// libFuzzer target: no header, however made, does harm; and what decodes can be sent on unchanged.
#include <cstdint>
#include <span>

#include "messages/base/check.h"
#include "messages/codec/codec.h"
#include "tests/fuzz/codec_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoy;
  const WireMessage message = testing::parse_codec_input(std::as_bytes(std::span(data, size)));
  (void)decode_record(message.header.bytes());
  const auto sender = sender_of(message.header);
  const auto decoded = decode(message);
  if (!decoded.ok()) {
    CONVOY_CHECK(!decoded.error().message.empty(), "a refusal without words");
    return 0;
  }
  CONVOY_CHECK(sender.ok(), "decoded, but its sender could not be told");
  const auto again = decode(encode(decoded->envelope, decoded->run));
  CONVOY_CHECK(again.ok(), "decoded, but not after encoding: ", again.ok() ? "" : again.error().message);
  CONVOY_CHECK(again->envelope == decoded->envelope,
               "changed on the way: ", describe(decoded->envelope.message), " became ",
               describe(again->envelope.message));
  return 0;
}

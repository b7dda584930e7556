#include "node/security/zap.h"

#include <zmq.h>

namespace convoy {
namespace {

std::string text_of(const Frame& frame) {
  return std::string(reinterpret_cast<const char*>(frame.data()), frame.size());
}

Frame frame_of(std::string_view text) {
  return Frame::copy_of(std::as_bytes(std::span(text)));
}

}  // namespace

Result<ZapRequest> parse_zap(const std::vector<Frame>& frames) {
  // version, request id, domain, address, routing id, mechanism, credentials...
  if (frames.size() < 6 || text_of(frames[0]) != "1.0")
    return Error{ErrorCode::kCorrupt, "not a ZAP request"};
  ZapRequest request;
  request.id = text_of(frames[1]);
  request.address = text_of(frames[3]);
  if (request.address.starts_with("::ffff:")) request.address.erase(0, 7);
  if (text_of(frames[5]) == "CURVE" && frames.size() == 7 && frames[6].size() == 32) {
    char text[41];
    zmq_z85_encode(text, reinterpret_cast<const std::uint8_t*>(frames[6].data()), 32);
    const Result<PublicKey> key = PublicKey::parse(text);
    if (key) request.key = *key;
  }
  return request;
}

std::vector<Frame> zap_reply(const std::string& id, bool admit) {
  return {frame_of("1.0"),
          frame_of(id),
          frame_of(admit ? "200" : "400"),
          frame_of(admit ? "OK" : "key not allowed"),
          frame_of(""),  // user id
          frame_of("")};
}

}  // namespace convoy

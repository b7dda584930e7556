// ZAP (ZeroMQ RFC 27): what libzmq asks before it lets a CURVE client in, and the answer. Pure functions on
// frames; who may come in is decided by the caller.
//
// Any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "messages/base/result.h"
#include "messages/frame.h"
#include "node/security/keys.h"

namespace convoy {

struct ZapRequest {
  std::string id;                // to be repeated in the reply
  std::string address;           // numeric, without port
  std::optional<PublicKey> key;  // none: another mechanism than CURVE
};

Result<ZapRequest> parse_zap(const std::vector<Frame>& frames);
std::vector<Frame> zap_reply(const std::string& id, bool admit);

}  // namespace convoy

#include "node/transport/hello.h"

#include <cstring>

namespace convoy {
namespace {

constexpr char kMagic[4] = {'C', 'V', 'Y', 'T'};
constexpr std::size_t kBytes = 24;

template <class Byte>
void put_u64(Byte* to, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<Byte>(value >> (8 * i) & 0xff);
}

template <class Byte>
std::uint64_t get_u64(const Byte* from) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<std::uint8_t>(from[i]);
  return value;
}

}  // namespace

WireFrames encode_hello(const TransportHello& hello) {
  std::vector<std::byte> bytes(kBytes);
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  bytes[4] = std::byte{kTransportVersion};
  bytes[5] = hello.answer ? std::byte{2} : std::byte{1};
  put_u64(bytes.data() + 8, hello.from.value);
  put_u64(bytes.data() + 16, hello.to.value);
  return {Frame(), Frame::of(std::move(bytes))};
}

bool is_hello(const WireFrames& frames) {
  return !frames.empty() && frames[0].empty();
}

Result<TransportHello> decode_hello(const WireFrames& frames) {
  const auto bad = [](std::string why) { return Error{ErrorCode::kCorrupt, std::move(why)}; };
  if (frames.size() != 2 || frames[1].size() < 6 || std::memcmp(frames[1].data(), kMagic, sizeof kMagic) != 0)
    return bad("it speaks ZeroMQ, but is not a convoy");
  const std::byte* data = frames[1].data();
  const auto version = static_cast<unsigned>(data[4]);
  if (version != kTransportVersion)
    return bad("it speaks version " + std::to_string(version) + " of the transport, this process version " +
               std::to_string(kTransportVersion) + "; run the same build on both sides");
  const auto kind = static_cast<unsigned>(data[5]);
  if (frames[1].size() != kBytes || (kind != 1 && kind != 2)) return bad("its greeting is malformed");
  return TransportHello{kind == 2, PeerId(get_u64(data + 8)), PeerId(get_u64(data + 16))};
}

std::string routing_id(PeerId peer) {
  std::string id(9, 'C');
  put_u64(id.data() + 1, peer.value);
  return id;
}

std::optional<PeerId> peer_of_routing_id(const std::string& routing) {
  if (routing.size() != 9 || routing[0] != 'C') return std::nullopt;
  return PeerId(get_u64(routing.data() + 1));
}

}  // namespace convoy

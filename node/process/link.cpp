#include "node/process/link.h"

#include <sstream>

namespace convoy {
namespace {

constexpr std::size_t kMostTold = 1024;

std::string in_hex(RunId run) {
  std::ostringstream out;
  out << std::hex << run.value;
  return out.str();
}

}  // namespace

Result<std::unique_ptr<Link>> Link::start(TransportOptions options, RunId run, LinkSink& sink) {
  std::unique_ptr<Link> link(new Link(options.self, run, sink));
  Result<std::unique_ptr<Transport>> transport = Transport::start(std::move(options), *link);
  if (!transport) return transport.error();
  link->transport_ = std::move(*transport);
  link->ready_.store(link->transport_.get());
  return link;
}

void Link::send(PeerId to, const Envelope& envelope) {
  WireMessage wire = encode(envelope, run());
  WireFrames frames;
  frames.reserve(1 + wire.tensors.size());
  frames.push_back(std::move(wire.header));
  for (Frame& f : wire.tensors) frames.push_back(std::move(f));
  // Not delivered means repeated: the protocol's requests are.
  (void)transport_->send(to, std::move(frames));
}

Result<void> Link::connect(PeerId peer, const std::string& address, const std::string& public_key) {
  if (public_key.empty()) return transport_->connect(peer, address);
  Result<PublicKey> key = PublicKey::parse(public_key);
  if (!key) return key.error();
  return transport_->connect(peer, address, *key);
}

void Link::received(PeerId from, WireFrames frames) {
  WireMessage wire;
  wire.header = std::move(frames.front());
  wire.tensors.assign(std::make_move_iterator(frames.begin() + 1), std::make_move_iterator(frames.end()));
  const Frame header = wire.header;
  Result<Decoded> decoded = decode(std::move(wire));
  if (!decoded) {
    const Result<Sender> sender = sender_of(header);
    if (decoded.error().code == ErrorCode::kRefused) {
      std::ostringstream text;
      text << "this process speaks protocol version " << kProtocolVersion << ", you speak "
           << (sender ? std::to_string(sender->protocol_version) : "another")
           << ": run the same build of convoy everywhere";
      return refuse(from, sender ? sender->incarnation : Incarnation(0), RefuseReason::kOtherVersion,
                    text.str());
    }
    return refuse(from, sender ? sender->incarnation : Incarnation(0), RefuseReason::kBadMessage,
                  decoded.error().message);
  }
  Envelope& envelope = decoded->envelope;
  const bool refusal = std::holds_alternative<Refuse>(envelope.message);
  if (envelope.from != from) {
    return refuse(from, envelope.incarnation, RefuseReason::kBadMessage, "the header names another sender",
                  !refusal);
  }
  // Refusals of whatever run or version are the role's to read: they tell it why it cannot go on.
  if (refusal) return sink_.received(std::move(envelope));
  if (run().value == 0) {
    if (const auto* welcome = std::get_if<Welcome>(&envelope.message)) learn_run(welcome->run);
  } else if (decoded->run.value != 0 && decoded->run != run()) {
    return refuse(from, envelope.incarnation, RefuseReason::kOtherRun,
                  "this is run " + in_hex(run()) + ", you belong to run " + in_hex(decoded->run) +
                      ": start the node again to join this one");
  }
  sink_.received(std::move(envelope));
}

void Link::refuse(PeerId from, Incarnation refused, RefuseReason reason, const std::string& text,
                  bool answer) {
  ++refused_;
  const Transport* const transport = ready_.load();
  const std::string address = transport != nullptr ? transport->address_of(from) : std::string();
  const std::string line =
      "refused a message from " + (address.empty() ? "a peer" : address) + ", saying: " + text;
  if (told_.size() >= kMostTold) told_.clear();
  if (told_.insert(line).second) sink_.refused(line);
  if (answer && transport != nullptr) send(from, Envelope{{}, self_, {}, Refuse{reason, refused, text}});
}

}  // namespace convoy

#include "node/transport/outbox.h"

#include <utility>

namespace convoy {

Outbox::Entry& Outbox::entry(PeerId peer) {
  Entry& found = entries_[peer];
  if (!found.account) {
    found.account = std::make_shared<Account>();
    found.account->total = total_;
  }
  return found;
}

void Outbox::forget_unless_used(PeerId peer) {
  const auto found = entries_.find(peer);
  if (found != entries_.end() && !found->second.dialled && !found->second.calls) entries_.erase(found);
}

void Outbox::post(Command command) {
  const bool was_empty = commands_.empty();
  commands_.push_back(std::move(command));
  if (was_empty) wakeup_->signal();
}

Sent Outbox::send(PeerId to, WireFrames frames) {
  CONVOY_CHECK(!frames.empty() && !frames[0].empty(), "a message without a header, to ", to);
  std::uint64_t bytes = 0;
  for (const Frame& frame : frames) bytes += frame.size();

  const std::lock_guard lock(mutex_);
  if (closed_) return Sent::kClosed;
  const auto found = entries_.find(to);
  if (found == entries_.end()) return Sent::kUnknownPeer;
  const Account& account = *found->second.account;
  const std::uint64_t messages = account.messages.load(std::memory_order_relaxed);
  // One message always goes, however large.
  if (messages >= max_messages_ ||
      (messages > 0 && account.bytes.load(std::memory_order_relaxed) + bytes > max_bytes_))
    return Sent::kFull;
  post(SendCommand{to, std::move(frames), std::make_shared<const Ticket>(found->second.account, bytes)});
  return Sent::kQueued;
}

void Outbox::connect(ConnectCommand command) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  Entry& dialled = entry(command.peer);
  dialled.dialled = true;
  dialled.address = to_string(command.endpoint);
  post(std::move(command));
}

void Outbox::disconnect(PeerId peer) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(peer);
  if (closed_ || found == entries_.end() || !found->second.dialled) return;
  found->second.dialled = false;
  forget_unless_used(peer);
  post(DisconnectCommand{peer});
}

void Outbox::allow(std::vector<PublicKey> keys) {
  const std::lock_guard lock(mutex_);
  if (!closed_) post(AllowCommand{std::move(keys)});
}

void Outbox::inject(const LinkFault& fault) {
  const std::lock_guard lock(mutex_);
  if (!closed_) post(fault);
}

void Outbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  wakeup_->signal();
}

bool Outbox::take(std::vector<Command>& commands) {
  commands.clear();
  const std::lock_guard lock(mutex_);
  commands_.swap(commands);
  return !closed_;
}

void Outbox::caller_up(PeerId peer, std::string address) {
  const std::lock_guard lock(mutex_);
  Entry& caller = entry(peer);
  caller.calls = true;
  if (!caller.dialled) caller.address = std::move(address);
}

void Outbox::caller_down(PeerId peer) {
  const std::lock_guard lock(mutex_);
  entry(peer).calls = false;
  forget_unless_used(peer);
}

std::string Outbox::address_of(PeerId peer) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(peer);
  return found == entries_.end() ? std::string() : found->second.address;
}

}  // namespace convoy

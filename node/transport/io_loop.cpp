#include "node/transport/io_loop.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace convoy {
namespace {

SteadyTime now() {
  return std::chrono::steady_clock::now();
}

std::uint64_t bytes_of(const WireFrames& frames) {
  std::uint64_t bytes = 0;
  for (const Frame& frame : frames) bytes += frame.size();
  return bytes;
}

}  // namespace

IoLoop::IoLoop(TransportOptions options, TransportSink& sink)
    : options_(std::move(options)),
      sink_(sink),
      outbox_(options_.max_outstanding_bytes, options_.max_outstanding_messages, wakeup_),
      lookups_(wakeup_),
      site_{*context_, options_, TransportTiming::from(options_.failure_timeout), lookups_, *this} {}

IoLoop::~IoLoop() = default;

Result<void> IoLoop::listen() {
  if (!options_.bind) return {};
  Result<std::unique_ptr<Listener>> listener = Listener::open(site_, *options_.bind);
  if (!listener) return listener.error();
  listener_ = std::move(*listener);
  bound_address_ = listener_->bound_address();
  return {};
}

void IoLoop::run() {
  for (bool open = true; open;) {
    wait();
    open = outbox_.take(commands_);
    for (Command& command : commands_) carry_out(command);
    commands_.clear();
    if (!open) break;

    for (Lookups::Answered& answered : lookups_.take())
      for (const auto& [peer, dial] : dials_)
        if (dial->question() == answered.question) dial->answered(std::move(answered.answer), now());
    if (listener_) listener_->work();
    for (const auto& [peer, dial] : dials_) dial->work(now());
    if (faults_) work_faults();
  }
  close_all();
}

void IoLoop::wait() {
  items_.clear();
  items_.push_back({nullptr, wakeup_->fd(), ZMQ_POLLIN, 0});
  if (listener_) listener_->add_poll_items(items_);
  SteadyTime deadline = SteadyTime::max();
  for (const auto& [peer, dial] : dials_) {
    dial->add_poll_items(items_);
    deadline = std::min(deadline, dial->deadline());
  }
  if (faults_) deadline = std::min(deadline, faults_->next());
  long timeout_ms = -1;
  if (deadline != SteadyTime::max()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now()).count();
    timeout_ms = std::clamp<long>(left, 0, std::numeric_limits<int>::max());
  }
  zmq_poll(items_.data(), static_cast<int>(items_.size()), timeout_ms);
  if ((items_[0].revents & ZMQ_POLLIN) != 0) wakeup_->clear();
}

void IoLoop::carry_out(Command& command) {
  if (auto* send_it = std::get_if<SendCommand>(&command)) {
    if (faults_)
      carry_on(faults_->pass({Way::kOut, send_it->to, std::move(send_it->frames), std::move(send_it->ticket)},
                             now()));
    else
      send(send_it->to, std::move(send_it->frames), std::move(send_it->ticket));
  } else if (auto* connect_it = std::get_if<ConnectCommand>(&command))
    connect(*connect_it);
  else if (auto* disconnect_it = std::get_if<DisconnectCommand>(&command))
    disconnect(disconnect_it->peer);
  else if (auto* allow_them = std::get_if<AllowCommand>(&command); allow_them && listener_)
    listener_->allow(allow_them->keys);
  else if (const auto* fault = std::get_if<LinkFault>(&command)) {
    if (!faults_) faults_ = std::make_unique<LinkFaults>();
    faults_->add(*fault, now());
  }
}

void IoLoop::send(PeerId to, WireFrames frames, TicketPtr ticket) {
  const auto dial = dials_.find(to);
  const bool dialled = dial != dials_.end();
  if (dialled && (dial->second->is_up() || !routes_[to].by_caller))
    return dial->second->send(std::move(frames), std::move(ticket));
  if (listener_ && listener_->send(to, frames, ticket)) return sent(frames);
  dropped();
}

void IoLoop::carry_on(std::vector<PassingMessage> messages) {
  for (PassingMessage& m : messages) {
    if (m.way == Way::kOut) {
      send(m.peer, std::move(m.frames), std::move(m.ticket));
      continue;
    }
    // No word of a peer after it was told to be gone.
    const auto route = routes_.find(m.peer);
    if (route != routes_.end() && route->second.any()) deliver(m.peer, std::move(m.frames));
  }
}

void IoLoop::work_faults() {
  carry_on(faults_->due(now()));
  if (faults_->over()) faults_.reset();
}

void IoLoop::connect(ConnectCommand& command) {
  // Roles name whom they need at every view change; what stands is not torn down for that.
  const auto found = dials_.find(command.peer);
  if (found != dials_.end() && found->second->leads_to(command.endpoint, command.server_key)) return;
  disconnect(command.peer);
  auto dial = std::make_unique<Dial>(site_, command.peer, std::move(command.endpoint),
                                     std::move(command.server_key), next_question_++);
  Dial& started = *dial;
  dials_.emplace(command.peer, std::move(dial));
  started.start(now());
}

void IoLoop::disconnect(PeerId peer) {
  const auto dial = dials_.find(peer);
  if (dial == dials_.end()) return;
  dial->second->close(options_.linger);
  dials_.erase(dial);
  // Given up, not lost: nobody is told.
  if (const auto route = routes_.find(peer); route != routes_.end()) {
    route->second.by_dial = false;
    if (!route->second.any()) routes_.erase(route);
  }
}

void IoLoop::close_all() {
  const Duration linger = std::clamp<Duration>(options_.linger, 0s, 1s);
  for (const auto& [peer, dial] : dials_) dial->close(linger);
  dials_.clear();
  if (listener_) listener_->close(linger);
  listener_.reset();
  context_.reset();  // waits for what lingers
}

void IoLoop::changed(PeerId peer, bool Route::*side, bool up) {
  Route& route = routes_[peer];
  const bool before = route.any();
  route.*side = up;
  const bool after = route.any();
  if (!after) routes_.erase(peer);
  if (before == after) return;
  if (after)
    sink_.peer_back(peer);
  else
    sink_.peer_lost(peer);
}

void IoLoop::dial_up(PeerId peer) {
  changed(peer, &Route::by_dial, true);
}

void IoLoop::dial_down(PeerId peer) {
  changed(peer, &Route::by_dial, false);
}

void IoLoop::caller_up(PeerId peer, const std::string& address) {
  outbox_.caller_up(peer, address);
  changed(peer, &Route::by_caller, true);
}

void IoLoop::caller_down(PeerId peer) {
  outbox_.caller_down(peer);
  changed(peer, &Route::by_caller, false);
}

void IoLoop::message(PeerId from, WireFrames frames) {
  if (faults_) return carry_on(faults_->pass({Way::kIn, from, std::move(frames), nullptr}, now()));
  deliver(from, std::move(frames));
}

void IoLoop::deliver(PeerId from, WireFrames frames) {
  counts_.messages_received.fetch_add(1, std::memory_order_relaxed);
  counts_.bytes_received.fetch_add(bytes_of(frames), std::memory_order_relaxed);
  sink_.received(from, std::move(frames));
}

void IoLoop::bad_message() {
  counts_.bad_messages.fetch_add(1, std::memory_order_relaxed);
}

void IoLoop::key_refused() {
  counts_.refused_keys.fetch_add(1, std::memory_order_relaxed);
}

void IoLoop::sent(const WireFrames& frames) {
  counts_.messages_sent.fetch_add(1, std::memory_order_relaxed);
  counts_.bytes_sent.fetch_add(bytes_of(frames), std::memory_order_relaxed);
}

void IoLoop::dropped() {
  counts_.dropped_disconnected.fetch_add(1, std::memory_order_relaxed);
}

void IoLoop::trouble(Trouble what) {
  sink_.trouble(what);
}

void IoLoop::count_refused(Sent why) {
  if (why == Sent::kUnknownPeer) counts_.dropped_unknown.fetch_add(1, std::memory_order_relaxed);
  if (why == Sent::kFull) counts_.dropped_full.fetch_add(1, std::memory_order_relaxed);
}

TransportCounters IoLoop::counters() const {
  const auto get = [](const std::atomic<std::uint64_t>& count) {
    return count.load(std::memory_order_relaxed);
  };
  return TransportCounters{.messages_sent = get(counts_.messages_sent),
                           .bytes_sent = get(counts_.bytes_sent),
                           .messages_received = get(counts_.messages_received),
                           .bytes_received = get(counts_.bytes_received),
                           .dropped_unknown = get(counts_.dropped_unknown),
                           .dropped_full = get(counts_.dropped_full),
                           .dropped_disconnected = get(counts_.dropped_disconnected),
                           .bad_messages = get(counts_.bad_messages),
                           .refused_keys = get(counts_.refused_keys),
                           .outstanding_bytes = get(outbox_.total().bytes),
                           .outstanding_messages = get(outbox_.total().messages)};
}

}  // namespace convoy

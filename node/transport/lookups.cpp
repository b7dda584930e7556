#include "node/transport/lookups.h"

#include <system_error>
#include <thread>
#include <utility>

namespace convoy {

Lookups::Lookups(std::shared_ptr<Wakeup> wakeup) : board_(std::make_shared<Board>()) {
  board_->wakeup = std::move(wakeup);
}

void Lookups::Board::post(std::uint64_t question, Answer answer) {
  {
    const std::lock_guard lock(mutex);
    answers.push_back({question, std::move(answer)});
  }
  wakeup->signal();
}

void Lookups::ask(std::uint64_t question, const Endpoint& endpoint) {
  // Asked without a wait when there is nobody to wait for.
  if (is_numeric(endpoint)) return board_->post(question, resolve(endpoint));
  try {
    std::thread([board = board_, question, endpoint] { board->post(question, resolve(endpoint)); }).detach();
  } catch (const std::system_error& error) {
    Answer none(Error{ErrorCode::kIo, "cannot look up the name '" + endpoint.host + "': " + error.what()});
    board_->post(question, std::move(none));
  }
}

std::vector<Lookups::Answered> Lookups::take() {
  const std::lock_guard lock(board_->mutex);
  return std::exchange(board_->answers, {});
}

}  // namespace convoy

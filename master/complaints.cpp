#include "master/complaints.h"

namespace convoy {

void Complaints::hear(PeerId from, const std::vector<PeerId>& silent, Time now) {
  std::map<PeerId, Time> said;
  const auto before = since_.find(from);
  for (PeerId peer : silent) {
    said[peer] = now;
    if (before == since_.end()) continue;
    if (const auto known = before->second.find(peer); known != before->second.end())
      said[peer] = known->second;
  }
  if (said.empty())
    since_.erase(from);
  else
    since_[from] = std::move(said);
}

void Complaints::forget(PeerId peer) {
  since_.erase(peer);
  for (auto& [from, about] : since_) about.erase(peer);
}

std::optional<Complaints::Verdict> Complaints::verdict(const std::map<PeerId, Party>& parties,
                                                       Duration patience, Time now) const {
  const auto party = [&](PeerId peer) -> const Party* {
    const auto at = parties.find(peer);
    return at != parties.end() ? &at->second : nullptr;
  };
  const auto complain_about = [&](PeerId peer) {
    std::size_t count = 0;
    for (const auto& [from, about] : since_) {
      if (party(from) != nullptr && about.contains(peer)) ++count;
    }
    return count;
  };
  for (const auto& [from, about] : since_) {
    const Party* plaintiff = party(from);
    if (plaintiff == nullptr) continue;
    for (const auto& [peer, since] : about) {
      const Party* accused = party(peer);
      if (accused == nullptr || !accused->server) continue;
      if (now - since < patience || accused->heard - since < patience / 2) continue;
      const std::size_t about_accused = complain_about(peer);
      if (!plaintiff->server) {
        if (accused->spare && about_accused * 2 > accused->peers) return Verdict{peer, from, about_accused};
        return Verdict{from, peer, 1};
      }
      const std::size_t about_plaintiff = complain_about(from);
      const bool accused_goes =
          about_accused != about_plaintiff ? about_accused > about_plaintiff : accused->id > plaintiff->id;
      if (accused->spare && (accused_goes || !plaintiff->spare)) return Verdict{peer, from, about_accused};
      if (plaintiff->spare) return Verdict{from, peer, about_plaintiff};
      // Neither can go without a loss: the cable may come back.
    }
  }
  return {};
}

}  // namespace convoy

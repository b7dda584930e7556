#include "messages/base/interval_set.h"

#include <algorithm>

#include "messages/base/sampling.h"

namespace convoy {

void IntervalSet::insert(Interval interval) {
  if (interval.begin >= interval.end) return;
  // First interval that touches or follows the new one.
  auto first = std::lower_bound(intervals_.begin(), intervals_.end(), interval.begin,
                                [](const Interval& i, std::int64_t begin) { return i.end < begin; });
  auto last = first;
  while (last != intervals_.end() && last->begin <= interval.end) {
    interval.begin = std::min(interval.begin, last->begin);
    interval.end = std::max(interval.end, last->end);
    size_ -= last->size();
    ++last;
  }
  size_ += interval.size();
  if (first == last) {
    intervals_.insert(first, interval);
  } else {
    *first = interval;
    intervals_.erase(first + 1, last);
  }
}

void IntervalSet::insert(const IntervalSet& other) {
  for (const Interval& i : other.intervals_) insert(i);
}

void IntervalSet::erase(Interval interval) {
  if (interval.begin >= interval.end) return;
  auto first = std::lower_bound(intervals_.begin(), intervals_.end(), interval.begin,
                                [](const Interval& i, std::int64_t begin) { return i.end <= begin; });
  std::vector<Interval> kept;
  auto last = first;
  while (last != intervals_.end() && last->begin < interval.end) {
    if (last->begin < interval.begin) kept.push_back({last->begin, interval.begin});
    if (last->end > interval.end) kept.push_back({interval.end, last->end});
    size_ -= last->size();
    ++last;
  }
  for (const Interval& i : kept) size_ += i.size();
  auto at = intervals_.erase(first, last);
  intervals_.insert(at, kept.begin(), kept.end());
}

void IntervalSet::erase(const IntervalSet& other) {
  for (const Interval& i : other.intervals_) erase(i);
}

bool IntervalSet::contains(std::int64_t position) const {
  auto i = std::upper_bound(intervals_.begin(), intervals_.end(), position,
                            [](std::int64_t p, const Interval& interval) { return p < interval.end; });
  return i != intervals_.end() && i->begin <= position;
}

bool IntervalSet::intersects(const IntervalSet& other) const {
  auto a = intervals_.begin();
  auto b = other.intervals_.begin();
  while (a != intervals_.end() && b != other.intervals_.end()) {
    if (a->end <= b->begin) {
      ++a;
    } else if (b->end <= a->begin) {
      ++b;
    } else {
      return true;
    }
  }
  return false;
}

bool IntervalSet::includes(const IntervalSet& other) const {
  auto a = intervals_.begin();
  for (const Interval& b : other.intervals_) {
    while (a != intervals_.end() && a->end <= b.begin) ++a;
    if (a == intervals_.end() || a->begin > b.begin || a->end < b.end) return false;
  }
  return true;
}

IntervalSet IntervalSet::take_first(std::int64_t count) {
  IntervalSet taken;
  std::size_t whole = 0;
  while (whole < intervals_.size() && count > 0) {
    Interval& i = intervals_[whole];
    if (i.size() <= count) {
      taken.insert(i);
      count -= i.size();
      size_ -= i.size();
      ++whole;
    } else {
      taken.insert(Interval{i.begin, i.begin + count});
      i.begin += count;
      size_ -= count;
      count = 0;
    }
  }
  intervals_.erase(intervals_.begin(), intervals_.begin() + static_cast<std::ptrdiff_t>(whole));
  return taken;
}

IntervalSet IntervalSet::complement(Interval within) const {
  IntervalSet result;
  result.insert(within);
  result.erase(*this);
  return result;
}

std::uint64_t IntervalSet::digest() const {
  std::uint64_t h = 0;
  for (const Interval& i : intervals_) {
    h += mix64(static_cast<std::uint64_t>(i.begin) ^ mix64(static_cast<std::uint64_t>(i.end)));
  }
  return h;
}

std::ostream& operator<<(std::ostream& out, const IntervalSet& set) {
  out << "{";
  const char* separator = "";
  for (const Interval& i : set.intervals_) {
    out << separator << i.begin << "-" << i.end - 1;
    separator = " ";
  }
  return out << "}";
}

}  // namespace convoy

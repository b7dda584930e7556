// IntervalSet: a set of sample positions as sorted, disjoint, non-touching half-open intervals. The ledger,
// the leases and the pool of what is left are such sets; they stay small because positions are handed out in
// order.
//
// A value: copy freely, no thread rules. Operations cost O(intervals) unless said otherwise.
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <vector>

namespace convoy {

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;  // one past the last

  std::int64_t size() const { return end - begin; }
  friend auto operator<=>(const Interval&, const Interval&) = default;
};

class IntervalSet {
 public:
  IntervalSet() = default;
  IntervalSet(std::initializer_list<Interval> intervals) {
    for (const Interval& i : intervals) insert(i);
  }

  // Adding what is there, or removing what is not, is allowed and changes nothing. Empty intervals are
  // ignored.
  void insert(Interval interval);
  void insert(const IntervalSet& other);
  void erase(Interval interval);
  void erase(const IntervalSet& other);
  void clear() {
    intervals_.clear();
    size_ = 0;
  }

  bool empty() const { return intervals_.empty(); }
  std::int64_t size() const { return size_; }  // positions, O(1)
  bool contains(std::int64_t position) const;  // O(log intervals)
  bool intersects(const IntervalSet& other) const;
  bool includes(const IntervalSet& other) const;

  // Removes and returns the `count` smallest positions (fewer when there are fewer).
  IntervalSet take_first(std::int64_t count);
  // What `within` holds that this set does not.
  IntervalSet complement(Interval within) const;

  const std::vector<Interval>& intervals() const { return intervals_; }
  // Order-independent of how the set was built; equal sets have equal digests.
  std::uint64_t digest() const;

  friend bool operator==(const IntervalSet&, const IntervalSet&) = default;
  friend std::ostream& operator<<(std::ostream& out, const IntervalSet& set);

 private:
  std::vector<Interval> intervals_;
  std::int64_t size_ = 0;
};

}  // namespace convoy

#include "indexed.h"

namespace sim {
namespace {

Selected selected(std::vector<int64_t> memory, View base, Dims offset_strides) {
  Selected result{std::move(memory), {}, std::move(base)};
  result.offsets = {ACL_INT64, result.base.shape, std::move(offset_strides),
                    reinterpret_cast<char *>(result.memory.data())};
  return result;
}

// The indices of the elements of a mask that are true, one list a dim.
std::vector<std::vector<int64_t>> places_of(const View &mask) {
  const auto rank = mask.shape.size();
  std::vector<std::vector<int64_t>> places(rank);
  const std::vector<int64_t> all = gathered<int64_t>(mask);
  const Dims steps = contiguous_strides(mask.shape);
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == 0) continue;
    for (size_t d = 0; d < rank; ++d)
      places[d].push_back(static_cast<int64_t>(i) / steps[d] % mask.shape[d]);
  }
  return places;
}

// One entry per dim of the target: its offsets with their shape, or nothing.
struct Entry {
  bool whole = true;
  Dims shape;
  std::vector<int64_t> offsets;
};

std::vector<Entry> entries_of(const Launch &launch, const View &target,
                              const std::vector<View> &indices) {
  std::vector<Entry> entries;
  const auto rank = target.shape.size();
  for (const View &index : indices) {
    const size_t d = entries.size();
    if (index.data == nullptr) {
      entries.emplace_back();
    } else if (index.dtype == ACL_BOOL) {
      for (std::vector<int64_t> &places : places_of(index)) {
        const size_t at = entries.size();
        if (at >= rank || target.shape[at] != index.shape[at - d])
          launch.fault("a mask does not fit the dims it stands for");
        const auto count = static_cast<int64_t>(places.size());
        for (int64_t &place : places) place *= target.strides[at];
        entries.push_back({false, {count}, std::move(places)});
      }
    } else {
      if (d >= rank) launch.fault("more indices than dims");
      entries.push_back({false, index.shape,
                         offsets_of(launch, index, target.shape[d], target.strides[d], true)});
    }
  }
  entries.resize(std::max(entries.size(), rank));
  return entries;
}

// Whether the entries that index stand next to each other, and the first of them.
template <class Entries>
bool adjacent(const Entries &entries, size_t &first) {
  size_t last = 0, count = 0;
  first = 0;
  for (size_t d = 0; d < entries.size(); ++d) {
    if (entries[d].whole) continue;
    if (count++ == 0) first = d;
    last = d;
  }
  return count != 0 && last - first + 1 == count;
}

// The sum of the offsets of all entries, in the shape they broadcast to.
std::vector<int64_t> summed(std::vector<Entry> &entries, const Dims &shape) {
  std::vector<int64_t> sums(static_cast<size_t>(numel(shape)), 0);
  const View total = view_of(sums, shape);
  for (Entry &entry : entries) {
    if (entry.whole) continue;
    elementwise<int64_t>(
        total, [](int64_t a, int64_t b) { return a + b; }, total,
        view_of(entry.offsets, entry.shape));
  }
  return sums;
}

template <class T>
T joined(Join how, T there, T value) {
  using C = number_of<T>;
  const C a = convert<C>(there), b = convert<C>(value);
  switch (how) {
    case Join::ADD: return convert<T>(plus(a, b));
    case Join::MULTIPLY: return convert<T>(times(a, b));
    default: break;
  }
  if constexpr (!std::is_same_v<C, std::complex<float>> &&
                !std::is_same_v<C, std::complex<double>>) {
    if (how == Join::MAXIMUM) return b != b || b > a ? value : there;
    if (how == Join::MINIMUM) return b != b || b < a ? value : there;
  }
  return value;
}

}  // namespace

Selected select_lines(const Launch &launch, const View &target, size_t dim, const View &list,
                      bool negative) {
  std::vector<int64_t> offsets =
      offsets_of(launch, list, target.shape[dim], target.strides[dim], negative);
  View base = target;
  base.shape[dim] = static_cast<int64_t>(offsets.size());
  base.strides[dim] = 0;
  Dims strides(target.shape.size(), 0);
  strides[dim] = 1;
  return selected(std::move(offsets), std::move(base), std::move(strides));
}

Selected select_along(const Launch &launch, const View &target, size_t dim, const View &index,
                      bool negative) {
  std::vector<int64_t> offsets =
      offsets_of(launch, index, target.shape[dim], target.strides[dim], negative);
  View base = target;
  base.shape = index.shape;
  base.strides[dim] = 0;
  return selected(std::move(offsets), std::move(base), contiguous_strides(index.shape));
}

Selected select_flat(const Launch &launch, const View &target, const View &index) {
  const Dims steps = contiguous_strides(target.shape);
  std::vector<int64_t> offsets = offsets_of(launch, index, target.numel(), 1, true);
  for (int64_t &offset : offsets) {
    int64_t place = 0;
    for (size_t d = 0; d < steps.size(); ++d)
      place += offset / steps[d] % target.shape[d] * target.strides[d];
    offset = place;
  }
  View base{target.dtype, index.shape, Dims(index.shape.size(), 0), target.data};
  return selected(std::move(offsets), std::move(base), contiguous_strides(index.shape));
}

Selected select_indexed(const Launch &launch, const View &target,
                        const std::vector<View> &indices) {
  std::vector<Entry> entries = entries_of(launch, target, indices);
  Dims shape;
  for (const Entry &entry : entries) {
    Dims wide;
    if (entry.whole) continue;
    if (!broadcast(shape, entry.shape, wide)) launch.fault("the indices do not broadcast");
    shape = std::move(wide);
  }
  std::vector<int64_t> offsets = summed(entries, shape);
  size_t at = 0;
  if (!adjacent(entries, at)) at = 0;
  const Dims steps = contiguous_strides(shape);
  View base{target.dtype, {}, {}, target.data};
  Dims strides;
  const auto insert = [&] {
    base.shape.insert(base.shape.end(), shape.begin(), shape.end());
    base.strides.resize(base.shape.size(), 0);
    strides.insert(strides.end(), steps.begin(), steps.end());
  };
  for (size_t d = 0; d < entries.size(); ++d) {
    if (d == at) insert();
    if (!entries[d].whole) continue;
    base.shape.push_back(target.shape[d]);
    base.strides.push_back(target.strides[d]);
    strides.push_back(0);
  }
  return selected(std::move(offsets), std::move(base), std::move(strides));
}

bool indexed_shape(const Call &call, const Operand &target, const std::vector<Operand> &indices,
                   Dims &shape) {
  struct Known {
    bool whole;
  };
  std::vector<Known> entries;
  Dims common;
  for (const Operand &index : indices) {
    const bool whole = index.numel() == 0;
    if (!whole && index.dtype() == ACL_BOOL) return false;
    entries.push_back({whole});
    if (whole) continue;
    Dims wide;
    call.require(broadcast(common, index.shape(), wide), "the indices do not broadcast");
    common = std::move(wide);
  }
  call.require(indices.size() <= target.shape().size(), "there are more indices than dims");
  entries.resize(target.shape().size(), {true});
  size_t at = 0;
  if (!adjacent(entries, at)) at = 0;
  shape.clear();
  for (size_t d = 0; d < entries.size(); ++d) {
    if (d == at) shape.insert(shape.end(), common.begin(), common.end());
    if (entries[d].whole) shape.push_back(target.shape()[d]);
  }
  return true;
}

void join(Join how, const View &values, const Selected &to) {
  if (how == Join::REPLACE) {
    return with_cell(values.dtype, [&](auto cell) {
      using T = decltype(cell);
      through<T>(values, to.offsets, to.base, [](T &element, const T &value) { element = value; });
    });
  }
  with_storage(values.dtype, [&](auto element_type) {
    using T = decltype(element_type);
    through<T>(values, to.offsets, to.base,
               [how](T &element, const T &value) { element = joined(how, element, value); });
  });
}

void fetch(const View &values, const Selected &from) {
  with_cell(values.dtype, [&](auto cell) {
    using T = decltype(cell);
    through<T>(values, from.offsets, from.base,
               [](const T &element, T &value) { value = element; });
  });
}

}  // namespace sim

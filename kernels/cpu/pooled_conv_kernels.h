// The loops of pooled_conv.cpp, in AVX2: convolution of the taps of a pooling window with the maximum taken
// in registers, and the two sums of the backward pass. For that file alone.
//
// Pure functions on memory of the caller; any thread.
#pragma once

#include <immintrin.h>

#include <array>
#include <cstdint>
#include <limits>
#include <utility>

// Without this GCC leaves arrays of accumulators in memory.
#define CONVOY_UNROLL _Pragma("GCC unroll 16")

namespace convoy::cpu {

inline constexpr int kVector = 8;  // floats
// Accumulators that leave room for an operand or two among the 16 vector registers.
inline constexpr int kMostAccumulators = 13;

struct Geometry {
  int in_channels, out_channels;
  int height, width;  // of the input
  int kernel_height, kernel_width;
  int pool;
  int cells_high, cells_wide;  // of the output

  int row() const { return kernel_width * in_channels; }  // adjacent numbers under one row of the kernel
  int row_vectors() const { return (row() + kVector - 1) / kVector; }
  int out_vectors() const { return (out_channels + kVector - 1) / kVector; }
  int padded_row() const { return row_vectors() * kVector; }
  int padded_out() const { return out_vectors() * kVector; }
  int taps() const { return pool * pool; }
  int cells() const { return cells_high * cells_wide; }
  std::int64_t input_row() const { return std::int64_t{width} * in_channels; }
  std::int64_t input_size() const { return height * input_row(); }
  // Where the kernel lies for a tap of a cell, from the sample's first number.
  std::int32_t offset(int cell, int tap) const {
    const int y = cell / cells_wide * pool + tap / pool, x = cell % cells_wide * pool + tap % pool;
    return (y * width + x) * in_channels;
  }
};

// A position that won, for one output channel: its gradient and where it lies (or which channel it is of).
struct Entry {
  float gradient;
  std::int32_t where;
};

// Forward.

// The convolution at P taps for V vectors of channels. `weights`: V vectors for each number under the kernel.
template <int P, int V>
inline void convolve(const Geometry& g, const float* x, const std::int32_t* offsets, const float* weights,
                     __m256 (&sums)[P][V]) {
  const float* at[P];
  CONVOY_UNROLL
  for (int p = 0; p < P; ++p) at[p] = x + offsets[p];
  CONVOY_UNROLL
  for (int p = 0; p < P; ++p) {
    CONVOY_UNROLL
    for (int v = 0; v < V; ++v) sums[p][v] = _mm256_setzero_ps();
  }
  const int row = g.row();
  for (int kh = 0; kh < g.kernel_height; ++kh) {
    for (int k = 0; k < row; ++k) {
      __m256 w[V];
      CONVOY_UNROLL
      for (int v = 0; v < V; ++v) w[v] = _mm256_load_ps(weights + v * kVector);
      weights += V * kVector;
      CONVOY_UNROLL
      for (int p = 0; p < P; ++p) {
        const __m256 value = _mm256_broadcast_ss(at[p] + k);
        CONVOY_UNROLL
        for (int v = 0; v < V; ++v) sums[p][v] = _mm256_fmadd_ps(value, w[v], sums[p][v]);
      }
    }
    CONVOY_UNROLL
    for (int p = 0; p < P; ++p) at[p] += g.input_row();
  }
}

template <int P, int V>
inline void keep_largest(const __m256 (&sums)[P][V], int first_tap, __m256 (&best)[V], __m256 (&winner)[V]) {
  CONVOY_UNROLL
  for (int p = 0; p < P; ++p) {
    const __m256 tap = _mm256_castsi256_ps(_mm256_set1_epi32(first_tap + p));
    CONVOY_UNROLL
    for (int v = 0; v < V; ++v) {
      // Not less or equal: a NaN wins, so that a diverged run shows.
      const __m256 larger = _mm256_cmp_ps(sums[p][v], best[v], _CMP_NLE_UQ);
      best[v] = _mm256_blendv_ps(best[v], sums[p][v], larger);
      winner[v] = _mm256_blendv_ps(winner[v], tap, larger);
    }
  }
}

// All cells of one sample for V vectors of channels: maxima (without bias) and winning taps, `out` and `taps`
// having padded_out() entries a cell.
template <int V>
void forward_block(const Geometry& g, const float* x, const std::int32_t* offsets, const float* weights,
                   const float* bias, float* out, std::uint8_t* taps) {
  for (int cell = 0; cell < g.cells(); ++cell) {
    __m256 best[V], winner[V];
    CONVOY_UNROLL
    for (int v = 0; v < V; ++v) {
      best[v] = _mm256_set1_ps(-std::numeric_limits<float>::infinity());
      winner[v] = _mm256_setzero_ps();
    }
    int tap = 0;
    for (; tap + 4 <= g.taps(); tap += 4) {
      __m256 sums[4][V];
      convolve<4, V>(g, x, offsets + tap, weights, sums);
      keep_largest<4, V>(sums, tap, best, winner);
    }
    for (; tap < g.taps(); ++tap) {
      __m256 sums[1][V];
      convolve<1, V>(g, x, offsets + tap, weights, sums);
      keep_largest<1, V>(sums, tap, best, winner);
    }
    CONVOY_UNROLL
    for (int v = 0; v < V; ++v) {
      _mm256_storeu_ps(out + v * kVector, _mm256_add_ps(best[v], _mm256_loadu_ps(bias + v * kVector)));
      const __m256i wide = _mm256_castps_si256(winner[v]);
      const __m128i half = _mm_packus_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
      _mm_storel_epi64(reinterpret_cast<__m128i*>(taps + v * kVector), _mm_packus_epi16(half, half));
    }
    offsets += g.taps();
    out += g.padded_out();
    taps += g.padded_out();
  }
}

// Backward.

// sums[r][v] += gradient * x[where + r rows + v vectors] for all entries.
template <int Rows, int Vectors>
void add_rows_at(const float* x, std::int64_t x_row, const Entry* entries, int count, float* sums,
                 int sums_row) {
  __m256 s[Rows][Vectors];
  CONVOY_UNROLL
  for (int r = 0; r < Rows; ++r) {
    CONVOY_UNROLL
    for (int v = 0; v < Vectors; ++v) s[r][v] = _mm256_loadu_ps(sums + r * sums_row + v * kVector);
  }
  for (const Entry* e = entries; e != entries + count; ++e) {
    const __m256 gradient = _mm256_broadcast_ss(&e->gradient);
    const float* from = x + e->where;
    CONVOY_UNROLL
    for (int r = 0; r < Rows; ++r) {
      CONVOY_UNROLL
      for (int v = 0; v < Vectors; ++v) {
        s[r][v] = _mm256_fmadd_ps(gradient, _mm256_loadu_ps(from + r * x_row + v * kVector), s[r][v]);
      }
    }
  }
  CONVOY_UNROLL
  for (int r = 0; r < Rows; ++r) {
    CONVOY_UNROLL
    for (int v = 0; v < Vectors; ++v) _mm256_storeu_ps(sums + r * sums_row + v * kVector, s[r][v]);
  }
}

using AddRows = void (*)(const float*, std::int64_t, const Entry*, int, float*, int);
template <int... I>
constexpr std::array<AddRows, sizeof...(I)> one_row(std::integer_sequence<int, I...>) {
  return {add_rows_at<1, I + 1>...};
}
template <int... I>
constexpr std::array<AddRows, sizeof...(I)> one_vector(std::integer_sequence<int, I...>) {
  return {add_rows_at<I + 1, 1>...};
}
inline constexpr auto kOneRow = one_row(std::make_integer_sequence<int, kMostAccumulators>{});
inline constexpr auto kOneVector = one_vector(std::make_integer_sequence<int, kMostAccumulators>{});

// to[v vectors] += sum over entries of gradient * weights[where + v vectors].
template <int Vectors>
void add_weighted(const float* weights, const Entry* entries, int count, float* to) {
  __m256 s[Vectors];
  CONVOY_UNROLL
  for (int v = 0; v < Vectors; ++v) s[v] = _mm256_loadu_ps(to + v * kVector);
  for (const Entry* e = entries; e != entries + count; ++e) {
    const __m256 gradient = _mm256_broadcast_ss(&e->gradient);
    CONVOY_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      s[v] = _mm256_fmadd_ps(gradient, _mm256_load_ps(weights + e->where + v * kVector), s[v]);
    }
  }
  CONVOY_UNROLL
  for (int v = 0; v < Vectors; ++v) _mm256_storeu_ps(to + v * kVector, s[v]);
}

using AddWeighted = void (*)(const float*, const Entry*, int, float*);
template <int... I>
constexpr std::array<AddWeighted, sizeof...(I)> weighted(std::integer_sequence<int, I...>) {
  return {add_weighted<I + 1>...};
}
inline constexpr auto kAddWeighted = weighted(std::make_integer_sequence<int, kMostAccumulators>{});

}  // namespace convoy::cpu

#undef CONVOY_UNROLL

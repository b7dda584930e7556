// The layers as naive functions on canonical layouts: what is right, said as plainly as possible. `n`
// samples.
//
// No state; any thread. Backward functions overwrite their outputs. A null `dx` is not computed.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/graph/graph.h"

namespace convoy::reference {

template <class T>
void forward(const Conv2d& op, Shape in, Shape out, int n, const T* x, const T* weight, const T* bias, T* y);
template <class T>
void backward(const Conv2d& op, Shape in, Shape out, int n, const T* x, const T* weight, const T* dy, T* dx,
              T* dweight, T* dbias);

template <class T>
void forward(const Linear& op, Shape in, Shape out, int n, const T* x, const T* weight, const T* bias, T* y);
template <class T>
void backward(const Linear& op, Shape in, Shape out, int n, const T* x, const T* weight, const T* dy, T* dx,
              T* dweight, T* dbias);

// `argmax` holds, for each output, the index of its first largest input within the sample's channel.
template <class T>
void forward(const MaxPool2d& op, Shape in, Shape out, int n, const T* x, T* y, std::int32_t* argmax);
template <class T>
void backward(const MaxPool2d& op, Shape in, Shape out, int n, const T* dy, const std::int32_t* argmax,
              T* dx);

template <class T>
void forward(const AvgPool2d& op, Shape in, Shape out, int n, const T* x, T* y);
template <class T>
void backward(const AvgPool2d& op, Shape in, Shape out, int n, const T* dy, T* dx);

template <class T>
void forward(const Relu& op, std::int64_t count, const T* x, T* y);
template <class T>
void backward(const Relu& op, std::int64_t count, const T* y, const T* dy, T* dx);

struct LossResult {
  double sum = 0;
  std::int64_t correct = 0;
};
// `probabilities` gets the softmax; it is what backward needs.
template <class T>
LossResult forward(const SoftmaxCrossEntropy& op, int classes, std::span<const std::int32_t> labels,
                   const T* x, T* probabilities);
template <class T>
void backward(const SoftmaxCrossEntropy& op, int classes, std::span<const std::int32_t> labels,
              const T* probabilities, T* dx);

}  // namespace convoy::reference

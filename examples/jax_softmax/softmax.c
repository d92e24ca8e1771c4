/* A softmax of each row, and its derivative, for train.py. */
#include <math.h>
#include <stdint.h>
void softmax(const float *x, float *y, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i, x += columns, y += columns) {
    float most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < columns; ++j) most = fmaxf(most, x[j]);
    for (int64_t j = 0; j < columns; ++j) sum += y[j] = expf(x[j] - most);
    for (int64_t j = 0; j < columns; ++j) y[j] /= sum;
  }
}
void softmax_backward(const float *y, const float *dy, float *dx, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i, y += columns, dy += columns, dx += columns) {
    float dot = 0;
    for (int64_t j = 0; j < columns; ++j) dot += y[j] * dy[j];
    for (int64_t j = 0; j < columns; ++j) dx[j] = y[j] * (dy[j] - dot);
  }
}

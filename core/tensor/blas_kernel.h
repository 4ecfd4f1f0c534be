/* Which of OpenBLAS's kernels suits a processor: a build takes a very old one for processors newer than itself. */
#ifndef CORE_TENSOR_BLAS_KERNEL_H
#define CORE_TENSOR_BLAS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

/* What the widest vectors are that a processor has, or a kernel uses. */
enum blas_vectors { BLAS_VECTORS_OLD, BLAS_VECTORS_AVX2, BLAS_VECTORS_AVX512 };

/* Of this processor; OLD where it is no x86-64. */
enum blas_vectors blas_kernel_processor(void);

/* A kernel that uses more of `processor` than `taken` does, the best first; NULL past the last. */
const char *blas_kernel_better(const char *taken, enum blas_vectors processor, size_t index);

/* Whether the kernel in use computes products of the sizes that attention needs as plain loops do. */
bool blas_kernel_is_right(void);

#endif

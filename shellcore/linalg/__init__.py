"""Linear algebra, dense and sparse.

`vectors` are arrays of many 3-vectors; `assembly` makes sparse matrices of element blocks. A matrix is factored by
`factor`: Cholesky by `multifrontal`, in memory that `fronts` lays out for a pattern in the order of `elimination` and
`separators`, with kernels from `blas`; or SuperLU. `block_cholesky` hands it those of membranes; `local_update` is the
factor of before a cut. `krylov` and `eigen` use them. `threads`: how many work. Nothing here knows what a shell is.
"""

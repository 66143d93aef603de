/* Loops over many words for each kind of host: one program has all of them, and the loader takes the best. */
#ifndef FATHOM_FUNC_CLONES_H
#define FATHOM_FUNC_CLONES_H

#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&                       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if !defined(__clang__) && __GNUC__ < 12 /* knows the levels by their first processors only */
#define CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#else
#define CLONES
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define VECTORS __attribute__((optimize("O3"))) /* at -O2 the compiler makes none of such loops */
#else
#define VECTORS
#endif

#endif

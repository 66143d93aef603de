/* For what has to run on systems that are older than the one that builds it: newer C libraries gave these functions a second version, which
 * differs only in not setting errno through a wrapper. Versions are those of glibc on x86-64, the first and the later one. */
#if defined(__x86_64__) && !defined(__ASSEMBLER__)
__asm__(".symver exp,exp@GLIBC_2.2.5");	    /* 2.29 */
__asm__(".symver exp2,exp2@GLIBC_2.2.5");   /* 2.29 */
__asm__(".symver log,log@GLIBC_2.2.5");	    /* 2.29 */
__asm__(".symver log2,log2@GLIBC_2.2.5");   /* 2.29 */
__asm__(".symver pow,pow@GLIBC_2.2.5");	    /* 2.29 */
__asm__(".symver hypot,hypot@GLIBC_2.2.5"); /* 2.35 */
#endif

/* The tables of passes, one per instruction set; lanes.c chooses. */
#ifndef CORE_LANES_SETS_H
#define CORE_LANES_SETS_H

#include "core/lanes.h"

const struct lanes *lanes_plain(void);
#ifdef __x86_64__
const struct lanes *lanes_avx2(void);
const struct lanes *lanes_avx512(void);
#endif

#endif

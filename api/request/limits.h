/* What the operator allows one request. */
#ifndef API_REQUEST_LIMITS_H
#define API_REQUEST_LIMITS_H

#include <stddef.h>

struct request_limits {
    size_t elements;       /* numbers in the tensors of one request, and in what is computed from them */
    size_t reply_elements; /* numbers in one reply */
    double flops;          /* operations of one request (core/cost.h); 0: any number */
    size_t memory;         /* bytes that one request may hold */
    size_t whole_elements; /* a reply of up to so many numbers is made in one piece; 0: the default (REPLY_WHOLE_MAX) */
};

#endif

/* Prometheus' text format 0.0.4, read strictly. */
#ifndef TESTS_HTTP_EXPOSITION_H
#define TESTS_HTTP_EXPOSITION_H

#include <stddef.h>

/* Checks the whole text: each family has HELP and TYPE once and before its samples, names and labels are well formed,
 * no sample stands twice, counters end in _total, histograms rise and agree with their count. Returns the number of
 * samples; a fault fails the running test. */
size_t exposition_check(const char *text);

/* The value of the sample that starts with `sample` ("name" or "name{label=\"x\"}"); NaN when there is none. */
double exposition_value(const char *text, const char *sample);

#endif

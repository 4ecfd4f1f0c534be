/* What the kernel knows about this process, as the metrics that every Prometheus client library has. */
#ifndef SERVER_WATCH_PROCESS_H
#define SERVER_WATCH_PROCESS_H

#include "api/numbers/buffer.h"

/* Appends process_cpu_seconds_total, process_resident_memory_bytes, process_open_fds, process_max_fds and
 * process_start_time_seconds; what cannot be read is left out. */
void process_write_metrics(struct buffer *out);

#endif

/* What this program is made of. */
#ifndef SERVER_CONFIG_VERSION_H
#define SERVER_CONFIG_VERSION_H

#include <stdbool.h>

const char *version_program(void);
const char *version_revision(void); /* of the source, "unknown" when built outside git */
const char *version_compiler(void);
const char *version_http(void); /* of libmicrohttpd at run time, as are the next ones of their libraries */
const char *version_json(void);
const char *version_blas(void);
const char *version_kernel(void);

/* Why it is that one: OpenBLAS took it, the operator set it, or the program did (server/machine/kernel.h), which then
 * has left the name of OpenBLAS's own choice in the environment. */
#define VERSION_KERNEL_VARIABLE "ATTENTIOND_KERNEL"
#define VERSION_KERNEL_TEXT 160
const char *version_kernel_reason(char out[VERSION_KERNEL_TEXT]);
/* OpenBLAS's kernel */
const char *version_simd(void); /* our own passes */
bool version_tls(void);

/* libmicrohttpd 1.0.0 to 1.0.9 can be crashed by one request before any code of ours runs. */
bool version_http_vulnerable(void);

/* Those before hide from us some of what a request should be refused for. */
bool version_http_lenient(void);

#endif

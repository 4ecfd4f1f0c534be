/* Versions; the build defines ATTND_VERSION and ATTND_REVISION. */
#include "server/config/version.h"

#include "api/json/jansson_start.h"
#include "core/simd/simd.h"
#include "core/tensor/blas.h"

#include <microhttpd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ATTND_VERSION
#define ATTND_VERSION "0.1.0"
#endif
#ifndef ATTND_REVISION
#define ATTND_REVISION "unknown"
#endif

const char *version_program(void)
{
    return ATTND_VERSION;
}

const char *version_revision(void)
{
    return ATTND_REVISION;
}

const char *version_compiler(void)
{
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

const char *version_http(void)
{
    return MHD_get_version();
}

const char *version_json(void)
{
    return jansson_start_version();
}

const char *version_blas(void)
{
    return blas_config();
}

const char *version_kernel(void)
{
    return blas_core();
}

const char *version_kernel_reason(char out[VERSION_KERNEL_TEXT])
{
    const char *core = getenv("OPENBLAS_CORETYPE");
    const char *before = getenv(VERSION_KERNEL_VARIABLE);
    if (before)
        snprintf(out, VERSION_KERNEL_TEXT,
                 "chosen at the start, after a check, because this OpenBLAS does not know the processor and took %.40s",
                 before);
    else
        snprintf(out, VERSION_KERNEL_TEXT, "%s",
                 core && *core ? "set by OPENBLAS_CORETYPE" : "taken by OpenBLAS for this processor");
    return out;
}

const char *version_simd(void)
{
    return simd_best()->name;
}

bool version_tls(void)
{
    return MHD_is_feature_supported(MHD_FEATURE_TLS) == MHD_YES;
}

bool version_http_vulnerable(void)
{
    unsigned major = 0;
    unsigned minor = 0;
    unsigned patch = 0;
    if (sscanf(MHD_get_version(), "%u.%u.%u", &major, &minor, &patch) != 3)
        return false;
    return major == 1 && minor == 0 && patch < 10;
}

bool version_http_lenient(void)
{
    return strncmp(MHD_get_version(), "0.", 2) == 0;
}

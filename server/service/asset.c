/* Files in the program. */
#include "server/service/asset.h"

#include <string.h>

static const struct asset rows[] = {
#include "server/web.inc"
};

const struct asset *asset_row(size_t index)
{
    return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

const char *asset_release(void)
{
    return EMBEDDED_RELEASE;
}

const struct asset *asset_find(const char *name)
{
    const struct asset *asset = NULL;
    for (size_t i = 0; (asset = asset_row(i)) != NULL; i++)
        if (strcmp(asset->name, name) == 0)
            return asset;
    return NULL;
}

const char *asset_media_type(const struct asset *asset)
{
    static const struct {
        const char *ending, *type;
    } types[] = {{".html", "text/html; charset=utf-8"},
                 {".css", "text/css; charset=utf-8"},
                 {".js", "text/javascript; charset=utf-8"},
                 {".svg", "image/svg+xml"}};
    const char *ending = strrchr(asset->name, '.');
    for (size_t i = 0; ending && i < sizeof types / sizeof *types; i++)
        if (strcmp(ending, types[i].ending) == 0)
            return types[i].type;
    return "application/octet-stream";
}

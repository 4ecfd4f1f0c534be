/* Tensors take their places among the members of a request. */
#include "api/raw/raw_request.h"

#include "api/request/json_path.h"

#include <string.h>

static bool refuse_memory(struct error *err)
{
    return error_set(err, ERROR_MEMORY, "", "There is no memory for the members of the request.");
}

/* The object that holds the last member of `path`, made where it lacks, or NULL; *last is that member's name. */
static json_t *open_objects(json_t *object, const char *path, const char **last, struct error *err)
{
    const char *dot;
    char shown[JSON_PATH_SHOWN];
    for (; (dot = strchr(path, '.')) != NULL; path = dot + 1) {
        size_t length = (size_t)(dot - path);
        json_t *inner = json_object_getn(object, path, length);
        if (!inner) {
            inner = json_object();
            if (json_object_setn_new(object, path, length, inner) != 0) {
                refuse_memory(err);
                return NULL;
            }
        }
        if (!json_is_object(inner)) {
            error_set(err, ERROR_INVALID, "", "The member that holds \"%s\" must be an object.",
                      json_path_show(dot + 1, shown));
            return NULL;
        }
        object = inner;
    }
    *last = path;
    return object;
}

bool raw_request_put_value(struct document *document, const char *path, json_t *value, struct error *err)
{
    const char *last;
    char shown[JSON_PATH_SHOWN];
    json_t *object = value ? open_objects(document->root, path, &last, err) : NULL;
    if (!object) {
        json_decref(value);
        return err->code == ERROR_NONE ? refuse_memory(err) : false;
    }
    if (json_object_get(object, last)) {
        json_decref(value);
        return error_set(err, ERROR_INVALID, "", "\"%s\" is given twice.", json_path_show(path, shown));
    }
    return json_object_set_new(object, last, value) == 0 || refuse_memory(err);
}

bool raw_request_put(struct document *document, const char *path, struct tensor tensor, struct arena *arena,
                     struct error *err)
{
    return raw_request_put_value(document, path, document_add_tensor(document, tensor, arena, err), err);
}

bool raw_request_bytes(enum dtype dtype, size_t rank, const size_t *shape, size_t *bytes)
{
    *bytes = dtype_size(dtype);
    for (size_t axis = 0; axis < rank; axis++)
        if (!size_multiply(*bytes, shape[axis], bytes))
            return false;
    return true;
}

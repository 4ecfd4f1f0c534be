/* A validator that knows few keywords and insists on them. */
#include "tests/api/validator.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHY 200

struct json_path {
    const json_t *document;
    char *why;
};

static bool validate(struct json_path p, const json_t *schema, const json_t *value);

static bool refuse(struct json_path p, const char *keyword, const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    snprintf(p.why, WHY, "%s: %.150s", keyword, text ? text : "?");
    free(text);
    return false;
}

const json_t *validator_find(const json_t *document, const char *reference)
{
    char copy[200];
    const json_t *at = document;
    snprintf(copy, sizeof copy, "%s", reference + 1);
    for (char *name = strtok(copy, "/"); name && at; name = strtok(NULL, "/"))
        at = json_object_get(at, name);
    return at;
}

static bool has_type(const char *type, const json_t *value)
{
    double number = json_number_value(value);
    if (strcmp(type, "integer") == 0)
        return json_is_number(value) && number == floor(number);
    return (strcmp(type, "object") == 0 && json_is_object(value)) ||
           (strcmp(type, "array") == 0 && json_is_array(value)) ||
           (strcmp(type, "string") == 0 && json_is_string(value)) ||
           (strcmp(type, "number") == 0 && json_is_number(value)) ||
           (strcmp(type, "boolean") == 0 && json_is_boolean(value)) ||
           (strcmp(type, "null") == 0 && json_is_null(value));
}

static bool check_type(struct json_path p, const json_t *type, const json_t *value)
{
    size_t index;
    json_t *one;
    if (json_is_string(type))
        return has_type(json_string_value(type), value) || refuse(p, json_string_value(type), value);
    json_array_foreach((json_t *)type, index, one) if (has_type(json_string_value(one), value)) return true;
    return refuse(p, "type", value);
}

static bool check_enum(struct json_path p, const json_t *list, const json_t *value)
{
    size_t index;
    json_t *one;
    json_array_foreach((json_t *)list, index, one) if (json_equal(one, value)) return true;
    return refuse(p, "enum", value);
}

static bool check_any(struct json_path p, const json_t *list, const json_t *value)
{
    size_t index;
    json_t *one;
    json_array_foreach((json_t *)list, index, one) if (validate(p, one, value)) return true;
    return false;
}

static bool check_one(struct json_path p, const json_t *list, const json_t *value)
{
    size_t fitting = 0;
    size_t index;
    json_t *one;
    json_array_foreach((json_t *)list, index, one) fitting += validate(p, one, value);
    return fitting == 1;
}

static bool check_items(struct json_path p, const json_t *schema, const json_t *value)
{
    size_t index;
    json_t *one;
    json_array_foreach((json_t *)value, index, one) if (!validate(p, schema, one)) return false;
    return true;
}

static bool check_members(struct json_path p, const json_t *schema, const json_t *value)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *additional = json_object_get(schema, "additionalProperties");
    const char *name;
    json_t *member;
    json_object_foreach((json_t *)value, name, member)
    {
        const json_t *known = json_object_get(properties, name);
        if (known ? !validate(p, known, member) : json_is_object(additional) && !validate(p, additional, member))
            return false;
        if (!known && json_is_false(additional))
            return refuse(p, name, value);
    }
    return true;
}

static bool check_required(struct json_path p, const json_t *names, const json_t *value)
{
    size_t index;
    json_t *name;
    json_array_foreach((json_t *)names, index, name)
    {
        if (!json_object_get(value, json_string_value(name)))
            return refuse(p, json_string_value(name), value);
    }
    return true;
}

static bool check_range(struct json_path p, const char *keyword, double limit, const json_t *value)
{
    double number = json_number_value(value);
    bool good = strcmp(keyword, "minimum") == 0            ? number >= limit
                : strcmp(keyword, "maximum") == 0          ? number <= limit
                : strcmp(keyword, "exclusiveMinimum") == 0 ? number > limit
                                                           : number < limit;
    return !json_is_number(value) || good || refuse(p, keyword, value);
}

static bool is_one_of(const char *keyword, const char *list)
{
    char marked[60];
    snprintf(marked, sizeof marked, " %s ", keyword);
    return strstr(list, marked) != NULL;
}

static bool check_keyword(struct json_path p, const char *keyword, const json_t *rule, const json_t *schema,
                          const json_t *value)
{
    if (strcmp(keyword, "$ref") == 0)
        return validate(p, validator_find(p.document, json_string_value(rule)), value);
    if (strcmp(keyword, "type") == 0)
        return check_type(p, rule, value);
    if (strcmp(keyword, "enum") == 0)
        return check_enum(p, rule, value);
    if (strcmp(keyword, "const") == 0)
        return json_equal(rule, value) || refuse(p, keyword, value);
    if (strcmp(keyword, "anyOf") == 0)
        return check_any(p, rule, value);
    if (strcmp(keyword, "oneOf") == 0)
        return check_one(p, rule, value);
    if (strcmp(keyword, "items") == 0)
        return check_items(p, rule, value);
    if (strcmp(keyword, "minItems") == 0)
        return !json_is_array(value) || json_array_size(value) >= (size_t)json_integer_value(rule) ||
               refuse(p, keyword, value);
    if (strcmp(keyword, "maxLength") == 0)
        return !json_is_string(value) || json_string_length(value) <= (size_t)json_integer_value(rule) ||
               refuse(p, keyword, value);
    if (strcmp(keyword, "required") == 0)
        return check_required(p, rule, value);
    if (is_one_of(keyword, " properties additionalProperties "))
        return check_members(p, schema, value);
    if (is_one_of(keyword, " minimum maximum exclusiveMinimum exclusiveMaximum "))
        return check_range(p, keyword, json_number_value(rule), value);
    ck_assert_msg(is_one_of(keyword, " description default contentEncoding "), "a schema has the keyword %s", keyword);
    return true;
}

static bool validate(struct json_path p, const json_t *schema, const json_t *value)
{
    const char *keyword;
    json_t *rule;
    ck_assert_msg(json_is_object(schema), "a reference leads nowhere");
    json_object_foreach((json_t *)schema, keyword, rule)
    {
        if (!check_keyword(p, keyword, rule, schema, value))
            return false;
    }
    return true;
}

bool validator_accepts(const json_t *document, const json_t *schema, const json_t *value, char *why)
{
    return validate((struct json_path){document, why}, schema, value);
}

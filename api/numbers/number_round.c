/* Printing with a fixed number of decimals, by 128-bit arithmetic. */
#include "api/numbers/number.h"

#include "api/numbers/number_digits.h"

static char *print_whole(char *out, uint64_t n)
{
    char reversed[20];
    int count = 0;
    for (; n > 0 || count == 0; n /= 10)
        reversed[count++] = (char)('0' + n % 10);
    while (count > 0)
        *out++ = reversed[--count];
    return out;
}

/* Places of digits = c * 10^places / 2^s, rounded half to even: everything that decides is in the 128 bits. */
static uint64_t round_fraction(uint64_t c, int s, uint64_t whole, int places)
{
    if (s > 127)
        return 0; /* c * 10^17 < 2^110 is less than half */
    uint128 product = (uint128)c * tens[places];
    uint128 half = (uint128)1 << (s - 1);
    uint128 rest = product & (half + (half - 1));
    uint64_t digits = (uint64_t)(product >> s);
    bool odd = ((places == 0 ? whole : digits) & 1) != 0;
    return digits + (rest > half || (rest == half && odd));
}

static char *print_fraction(char *out, uint64_t digits, int places)
{
    struct spread spread = spread_all(digits * tens[17 - places]);
    *out = '.';
    store_spread(out + 1, &spread);
    return out + 1 + spread.used;
}

char *number_print_rounded(char *out, double value, int decimals)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    *out = '-';
    out += bits >> 63;
    int field = (int)(bits >> 52 & 0x7ff);
    uint64_t c = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(field != 0) << 52;
    int q = field - 1075 + (field == 0);
    if (q > 0)
        return number_print_float64(out - (bits >> 63), value);
    if (q == 0)
        return print_whole(out, c);
    uint64_t whole = q > -64 ? c >> -q : 0;
    uint64_t fraction = q > -64 ? c - (whole << -q) : c;
    uint64_t digits = round_fraction(fraction, -q, whole, decimals);
    if (digits == tens[decimals]) {
        whole++;
        digits = 0;
    }
    out = print_whole(out, whole);
    return digits == 0 ? out : print_fraction(out, digits, decimals);
}

// A request's values, of a JSON object.
#define JSMN_STATIC
#define JSMN_STRICT
#include <errno.h>
#include <jsmn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The request: an object, which is the first token.
static char* text;
static jsmntok_t* tokens;
static int n_tokens;

// Makes the four digits of \uXXXX a number, or -1.
static long unit_of(const char* digits) {
  char copy[5] = {0};
  memcpy(copy, digits, 4);
  return strspn(copy, "0123456789abcdefABCDEF") == 4 ? strtol(copy, NULL, 16) : -1;
}

static char* put_utf8(char* to, long code) {
  if (code < 0x80) {
    *to++ = (char)code;
    return to;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  *to++ = (char)((0xff << (7 - more) & 0xff) | code >> 6 * more);
  for (int i = more - 1; i >= 0; --i) *to++ = (char)(0x80 | (code >> 6 * i & 0x3f));
  return to;
}

// Puts what a string stands for in its place, which it fits, and a 0 after it.
static void unescape(const jsmntok_t* token) {
  static const char kShort[] = "b\bf\fn\nr\rt\t";
  const char *from = text + token->start, *end = text + token->end;
  char* to = text + token->start;
  while (from < end) {
    if (*from != '\\') {
      *to++ = *from++;
    } else if (from[1] != 'u') {
      const char* known = strchr(kShort, from[1]);
      *to++ = known != NULL ? known[1] : from[1];
      from += 2;
    } else {
      long code = unit_of(from + 2);
      from += 6;
      const bool is_pair = code >> 10 == 0xd800 >> 10 && end - from >= 6 && from[0] == '\\' && from[1] == 'u';
      if (is_pair) {
        code = 0x10000 + ((code & 0x3ff) << 10 | (unit_of(from + 2) & 0x3ff));
        from += 6;
      }
      to = put_utf8(to, code);
    }
  }
  *to = 0;
}

// The token after a value.
static int after(int token) {
  const int end = tokens[token].end;
  while (token < n_tokens && tokens[token].start < end) ++token;
  return token;
}

static bool read_request(void) {
  size_t size = 0;
  do {
    text = realloc(text, size + 4097);
    if (text == NULL) return false;
    const size_t came = fread(text + size, 1, 4096, stdin);
    size += came;
  } while (!feof(stdin) && !ferror(stdin));
  text[size] = 0;
  jsmn_parser parser;
  jsmn_init(&parser);
  n_tokens = jsmn_parse(&parser, text, size, NULL, 0);
  if (n_tokens < 1) return false;
  tokens = malloc((size_t)n_tokens * sizeof(jsmntok_t));
  jsmn_init(&parser);
  if (tokens == NULL || jsmn_parse(&parser, text, size, tokens, (unsigned)n_tokens) != n_tokens) return false;
  if (tokens[0].type != JSMN_OBJECT || after(0) != n_tokens) return false;
  for (int key = 1; key < n_tokens; key = after(key + 1)) {
    if (tokens[key].type != JSMN_STRING || tokens[key].size != 1 || key + 1 == n_tokens) return false;
    unescape(&tokens[key]);
  }
  return true;
}

// Whether a token is a number of only these characters.
static inline bool is_number(int token, const char* characters) {
  const jsmntok_t* number = &tokens[token];
  return number->type == JSMN_PRIMITIVE && (int)strspn(text + number->start, characters) >= number->end - number->start;
}

static inline void begin_refusal(void) { printf("Status: 400 Bad Request\nContent-Type: text/plain\n\n"); }

// Answers what does not fit, and returns 0.
__attribute__((format(printf, 1, 2))) static inline int refuse(const char* format, ...) {
  va_list values;
  va_start(values, format);
  begin_refusal();
  vprintf(format, values);
  putchar('\n');
  va_end(values);
  return 0;
}

// Whether all keys are inputs. If not, it has answered.
static inline bool check_keys(const char* const* inputs, size_t n_inputs) {
  for (int key = 1; key < n_tokens; key = after(key + 1)) {
    const char* name = text + tokens[key].start;
    size_t i = 0;
    while (i < n_inputs && strcmp(inputs[i], name) != 0) ++i;
    if (i < n_inputs) continue;
    begin_refusal();
    printf("the model has no input \"%s\"; it has ", name);
    for (i = 0; i < n_inputs; ++i) printf("%s\"%s\"", i == 0 ? "" : ", ", inputs[i]);
    putchar('\n');
    return false;
  }
  return true;
}

// The first value of an input: a token; 0 if the request is empty; -1 if it does not fit, and that is answered.
static inline int find(const char* name, int count) {
  if (n_tokens == 1) return 0;
  int key = 1;
  while (key < n_tokens && strcmp(text + tokens[key].start, name) != 0) key = after(key + 1);
  if (key >= n_tokens) return refuse("the request lacks \"%s\"", name) - 1;
  const int first = key + 2, size = tokens[key + 1].size;
  bool are_numbers = tokens[key + 1].type == JSMN_ARRAY && first + size <= n_tokens;
  for (int i = 0; i < size && are_numbers; ++i) are_numbers = is_number(first + i, "+-.0123456789eE");
  if (!are_numbers) return refuse("\"%s\" wants one list of %d numbers", name, count) - 1;
  return size == count ? first : refuse("\"%s\" has %d values, not %d", name, size, count) - 1;
}

static inline bool read_double(int token, double least, double most, double* value) {
  char* end;
  *value = strtod(text + tokens[token].start, &end);
  return is_number(token, "+-.0123456789eE") && end == text + tokens[token].end && *value >= least && *value <= most;
}

static inline bool read_int64_t(int token, int64_t least, int64_t most, int64_t* value) {
  char* end;
  errno = 0;
  *value = strtoll(text + tokens[token].start, &end, 10);
  return is_number(token, "-0123456789") && end == text + tokens[token].end && errno == 0 && *value >= least &&
         *value <= most;
}

static inline bool read_uint64_t(int token, uint64_t least, uint64_t most, uint64_t* value) {
  char* end;
  errno = 0;
  *value = strtoull(text + tokens[token].start, &end, 10);
  return is_number(token, "0123456789") && end == text + tokens[token].end && errno == 0 && *value >= least &&
         *value <= most;
}

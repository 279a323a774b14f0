/* What llama.cpp's own library does not export, compiled from its sources (libwasinn_llama_common.so): chat templates,
 * messages with tool calls, and JSON schemas as grammars. In C, so that no exception and no C++ object crosses it.
 */
#ifndef WASINN_LLAMA_COMMON_H_
#define WASINN_LLAMA_COMMON_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  WASINN_LLAMA_OK = 0,
  WASINN_LLAMA_WRONG = 1,    /* the input; `text` says what is wrong with it */
  WASINN_LLAMA_TOO_MUCH = 2, /* beyond a limit; `text` says which */
  WASINN_LLAMA_STOPPED = 3   /* go_on said so */
};

/* One call: its limits, and what comes out of it. */
typedef struct wasinn_llama_call {
  uint64_t most_bytes; /* that it may hold at once */
  uint64_t most_steps; /* of work, each of a few nanoseconds */
  size_t stack;        /* that it may use of the caller's */
  /* NULL, or asked now and then: whether it shall go on, holding so many bytes. */
  int (*go_on)(void* user, uint64_t bytes);
  void* user;
  /* In: bytes that what it works on holds already. Out: those that are held at its end. */
  uint64_t kept;
  char* text; /* the result or the error; the caller frees it with free() */
} wasinn_llama_call;

/* `text`: a grammar in GBNF. */
int wasinn_llama_grammar(const char* schema, wasinn_llama_call* call);

/* A model's chat templates. Any number of threads at a time. */
typedef struct wasinn_llama_templates wasinn_llama_templates;
typedef struct wasinn_llama_model {
  const char* chat_template; /* Jinja */
  const char* tool_use;      /* the one for chats with tools; may be NULL */
  const char* bos;           /* the token's text; NULL: it has none */
  const char* eos;
  int adds_bos; /* whether its tokenizer puts them around a text */
  int adds_eos;
} wasinn_llama_model;
int wasinn_llama_templates_new(const wasinn_llama_model* model, wasinn_llama_call* call, wasinn_llama_templates** out);
void wasinn_llama_templates_free(wasinn_llama_templates* templates);

/* One conversation, up to the assistant's next message. */
typedef struct wasinn_llama_chat wasinn_llama_chat;
/* `request`: JSON with "messages" and what else changes the answer, by the names of llama.cpp's server. `text`: JSON with
 * "prompt", "generation_prompt", "grammar", "lazy", "triggers" (regular expressions), "stops", "preserved",
 * "thinking_start" and "thinking_ends". */
int wasinn_llama_chat_new(const wasinn_llama_templates* templates, const char* request, wasinn_llama_call* call,
                          wasinn_llama_chat** out);
/* `text`: the assistant's message as JSON, of what was generated so far. `partial`: more follows. */
int wasinn_llama_chat_message(const wasinn_llama_chat* chat, const char* generated, size_t size, int partial,
                              wasinn_llama_call* call);
void wasinn_llama_chat_free(wasinn_llama_chat* chat);

/* Finds the tokens that may follow a text by a grammar. One thread at a time. */
typedef struct wasinn_llama_matcher wasinn_llama_matcher;
typedef struct wasinn_llama_vocabulary {
  void* user;
  /* Writes a token's text, that of a control token by its name too. Its bytes; less than 0: more than `size`. */
  int32_t (*piece)(void* user, int32_t token, char* to, int32_t size);
  int (*ends)(void* user, int32_t token); /* whether it ends a text */
  /* How many tokens a text has, whose first `most` are written; less than 0: more. */
  int32_t (*tokens)(void* user, const char* text, int32_t size, int32_t* to, int32_t most);
} wasinn_llama_vocabulary;
/* `grammar`: in GBNF. `vocabulary` is copied, `user` is used until the matcher goes. */
int wasinn_llama_matcher_new(const wasinn_llama_vocabulary* vocabulary, const char* grammar, wasinn_llama_call* call,
                             wasinn_llama_matcher** out);
/* Writes for each token whether it may come next: 1 or 0. */
int wasinn_llama_matcher_check(const wasinn_llama_matcher* matcher, const int32_t* tokens, size_t n, uint8_t* allowed,
                               wasinn_llama_call* call);
/* Takes the next token, or that part of it. WASINN_LLAMA_WRONG: it may not. After any failure the matcher is of
 * no more use. */
int wasinn_llama_matcher_accept(wasinn_llama_matcher* matcher, int32_t token, const char* piece, size_t size,
                                wasinn_llama_call* call);
void wasinn_llama_matcher_free(wasinn_llama_matcher* matcher);

#ifdef __cplusplus
}
#endif

#endif /* WASINN_LLAMA_COMMON_H_ */

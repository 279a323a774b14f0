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
  uint64_t most_bytes;  /* that it may hold at once */
  uint64_t most_blocks; /* of memory that it may ask for in all: the measure of its work, which has no other */
  size_t stack;         /* that it may use of the caller's */
  /* NULL, or asked now and then: whether it shall go on, holding so many bytes. */
  int (*go_on)(void* user, uint64_t bytes);
  void* user;
  /* Written by the call. */
  uint64_t kept; /* bytes that it still holds at its end */
  char* text;    /* the result or the error; the caller's, who frees it with free() */
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

#ifdef __cplusplus
}
#endif

#endif /* WASINN_LLAMA_COMMON_H_ */

// What the server calls and the libraries lack, which are some days older: batches of another form, by the calls for the old one. Of tokens alone.
#include <cstdlib>
#include <string>
#include <vector>

#include "llama.h"

struct llama_batch_ext {
  std::vector<llama_token> tokens;
  std::vector<llama_pos> positions;
  std::vector<std::vector<llama_seq_id>> sequences;
  std::vector<int8_t> outputs;
  uint32_t most = 0;
};

namespace {

bool Has(const llama_batch_ext* batch, int32_t at) { return at >= 0 && static_cast<size_t>(at) < batch->tokens.size(); }

}  // namespace

llama_batch_ext* llama_batch_ext_init(llama_context* context) {
  return new llama_batch_ext{.most = llama_n_batch(context)};
}

void llama_batch_ext_free(llama_batch_ext* batch) { delete batch; }

void llama_batch_ext_clear(llama_batch_ext* batch) { *batch = {.most = batch->most}; }

int32_t llama_batch_ext_add_token(llama_batch_ext* batch, llama_seq_id sequence, llama_token token) {
  if (batch->tokens.size() >= batch->most) return -1;
  batch->tokens.push_back(token);
  batch->positions.push_back(0);
  batch->sequences.push_back({sequence});
  batch->outputs.push_back(0);
  return static_cast<int32_t>(batch->tokens.size()) - 1;
}

// Of images, and of drafts by heads of the model itself.
int32_t llama_batch_ext_add_embd(llama_batch_ext*, llama_seq_id, llama_embd) { return -2; }
bool llama_batch_ext_set_embd_token(llama_batch_ext*, int32_t, llama_embd) { return false; }

bool llama_batch_ext_add_seq(llama_batch_ext* batch, int32_t at, llama_seq_id sequence) {
  if (!Has(batch, at)) return false;
  batch->sequences[at].push_back(sequence);
  return true;
}

bool llama_batch_ext_set_output_logits(llama_batch_ext* batch, int32_t at, bool value) {
  if (!Has(batch, at)) return false;
  batch->outputs[at] = value ? 1 : 0;
  return true;
}

bool llama_batch_ext_set_pos(llama_batch_ext* batch, int32_t at, const llama_pos* position) {
  if (!Has(batch, at)) return false;
  batch->positions[at] = *position;
  return true;
}

int32_t llama_process(llama_context* context, llama_process_type type, llama_batch_ext* batch) {
  std::vector<int32_t> counts;
  std::vector<llama_seq_id*> sequences;
  for (auto& each : batch->sequences) {
    counts.push_back(static_cast<int32_t>(each.size()));
    sequences.push_back(each.data());
  }
  const llama_batch old = {.n_tokens = static_cast<int32_t>(batch->tokens.size()),
                           .token = batch->tokens.data(),
                           .embd = nullptr,
                           .pos = batch->positions.data(),
                           .n_seq_id = counts.data(),
                           .seq_id = sequences.data(),
                           .logits = batch->outputs.data()};
  return type == LLAMA_PROCESS_TYPE_ENCODE ? llama_encode(context, old) : llama_decode(context, old);
}

// As the model's file says: nothing of the server changes it.
bool llama_get_causal_attn(const llama_context* context) {
  const llama_model* model = llama_get_model(context);
  char text[256] = "";
  if (llama_model_meta_val_str(model, "general.architecture", text, sizeof text) < 0) return true;
  const std::string key = std::string(text) + ".attention.causal";
  return llama_model_meta_val_str(model, key.c_str(), text, sizeof text) < 0 || std::string(text) == "true";
}

// The language models of a generation, for /v1: each has a thread for each text that it generates at once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "serve/models/catalog.h"
#include "serve/models/upstream.h"
#include "serve/threads/workers.h"

namespace wasinn::serve {

// Thread-safe.
class TextModels {
 public:
  struct Name {
    std::string model, version;
    std::string adapter;  // "": none
  };
  // The models of adapters (LoRA), by the adapters' names.
  using Adapters = std::map<std::string, std::string>;

  // `limits`: of each model's threads, except their number. The catalog outlives it.
  TextModels(Catalog& models, const Workers::Limits& limits, Adapters adapters, const UpstreamSettings& upstreams);

  // `name`: from a client: "digits", "digits:2", or an adapter's name. NOT_FOUND: the tenant has no such model.
  Name Find(const Tenant& tenant, const std::string& name) const;
  // The tenant's only one.
  Name FindOnly(const Tenant& tenant) const;
  // The tenant's models, and then the adapters, by the names that clients may use. Loads nothing.
  std::vector<std::pair<std::string, Name>> List(const Tenant& tenant) const;
  // Tokens of its longest text; 0: unknown, or not opened yet.
  uint32_t ContextOf(const Name& name) const;

  // Whether there are models on other servers.
  bool has_upstreams() const { return !upstreams_.empty(); }
  // NULL: it is computed here. UNAVAILABLE: its configuration has a mistake.
  std::shared_ptr<Upstream> UpstreamOf(const Name& name) const;
  // Its threads; NULL: not opened yet.
  Workers* WorkersOf(const Name& name) const;
  // Loads the model if necessary. UNSUPPORTED_OPERATION: it is no language model.
  Workers* Open(Tenant& tenant, const Name& name);

  // For each open model: how many texts are generated, and how many requests wait.
  std::vector<std::pair<Name, Workers::Load>> Look() const;
  // Call it now and then.
  void Sweep();
  // Waits for running texts, and begins no more.
  void Stop();

 private:
  using Key = std::pair<std::string, std::string>;
  // The highest version of each, unloaded ones too.
  std::vector<Name> Highest(const Tenant& tenant) const;

  struct Model {
    std::unique_ptr<Workers> workers;
    uint32_t context = 0;
  };

  // Finds no adapters.
  Outcome<Name> FindModel(const Tenant& tenant, const std::string& name) const;
  // Version "": the highest.
  Outcome<Name> FindVersion(const Tenant& tenant, const std::string& model, const std::string& version) const;

  // Adds the names of the existing models.
  Failure NotFound(const Tenant& tenant, Failure why) const;

  Catalog& models_;
  const Workers::Limits limits_;
  const Adapters adapters_;
  std::map<Key, Outcome<std::shared_ptr<Upstream>>> upstreams_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<Key, Model> open_;
  bool is_stopped_ = false;
};

}  // namespace wasinn::serve

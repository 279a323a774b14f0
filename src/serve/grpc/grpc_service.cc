#include "serve/grpc/grpc_service.h"

#include <google/protobuf/util/json_util.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "serve/grpc/grpc_inflate.h"
#include "serve/grpc/grpc_reactors.h"
#include "serve/grpc/grpc_request.h"
#include "serve/oip/bytes.h"
#include "serve/oip/server_metadata.h"
#include "serve/openai/text_work.h"

namespace wasinn::serve {
namespace {

using nlohmann::json;

grpc::StatusCode CodeOf(wasinn_code code) {
  switch (code) {
    case WASINN_ERROR_NOT_FOUND:
    case WASINN_ERROR_MODEL_NOT_FOUND:
      return grpc::NOT_FOUND;
    case WASINN_ERROR_INVALID_ARGUMENT:
    case WASINN_ERROR_INVALID_ENCODING:
    case WASINN_ERROR_PROMPT_TOO_LONG:
      return grpc::INVALID_ARGUMENT;
    case WASINN_ERROR_UNSUPPORTED_OPERATION:
      return grpc::UNIMPLEMENTED;
    case WASINN_ERROR_TOO_LARGE:
    case WASINN_ERROR_BUSY:
      return grpc::RESOURCE_EXHAUSTED;
    case WASINN_ERROR_SECURITY:
      return grpc::PERMISSION_DENIED;
    case WASINN_ERROR_TIMEOUT:
      return grpc::DEADLINE_EXCEEDED;
    case WASINN_ERROR_UNAVAILABLE:
    case WASINN_ERROR_LOST:
      return grpc::UNAVAILABLE;
    default:
      return grpc::INTERNAL;
  }
}

// The messages have the REST form's names, so that there is one place that knows what is told.
grpc::Status Fill(const json& told, google::protobuf::Message& message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const std::string text = told.dump(-1, ' ', false, json::error_handler_t::replace);
  const auto filled = google::protobuf::util::JsonStringToMessage(text, &message, options);
  return filled.ok() ? grpc::Status::OK : grpc::Status(grpc::INTERNAL, filled.ToString());
}

grpc::Status Fill(const Outcome<json>& told, google::protobuf::Message& message) {
  return told ? Fill(*told, message) : ToGrpc(told.error());
}

grpc::Status ToGrpc(const Outcome<void>& done) { return done ? grpc::Status::OK : ToGrpc(done.error()); }

// What is thrown is for want of memory, or ours.
Failure ToFailure(const std::exception& thrown) {
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) return OutOfMemory();
  return {WASINN_ERROR_RUNTIME, thrown.what()};
}

Catalog& ModelsOf(const Admission& admission) { return admission.generation->models(); }

// Inputs and the output of language models, as texts.
constexpr char kPrompt[] = "prompt", kOptions[] = "options", kCompletion[] = "completion";

const InputTensor* FindInput(const InferRequest& request, std::string_view name) {
  const auto found = std::ranges::find(request.inputs, name, &InputTensor::name);
  return found == request.inputs.end() ? nullptr : &*found;
}

std::string TextIn(const InferRequest& request, std::string_view name) {
  const InputTensor* const input = FindInput(request, name);
  if (input == nullptr) return "";
  const std::span<const uint8_t> text = OnlyElement(input->bytes()).value();
  return {text.begin(), text.end()};
}

OutputTensor TextOutput(const std::string& piece) {
  const auto element = std::make_shared<std::string>();
  AppendElement(*element, {reinterpret_cast<const uint8_t*>(piece.data()), piece.size()});
  return {kCompletion, &Bytes(), {1}, {reinterpret_cast<const uint8_t*>(element->data()), element->size()}, element};
}

// "ServerLive" of "ServerLiveRequest".
template <typename Request>
const char* MethodOf() {
  static const std::string name = [] {
    const std::string& request = Request::descriptor()->name();
    return request.substr(0, request.size() - std::string_view("Request").size());
  }();
  return name.c_str();
}

// The model's, of those that have one; else "".
template <typename Request>
std::string NameIn(const Request& request) {
  if constexpr (requires { request.model_name(); }) return request.model_name();
  if constexpr (requires { request.name(); }) return request.name();
  return "";
}

// Whether only a load can tell.
template <typename Request>
bool NeedsLoad(const Admission& admission, const Request& request) {
  if constexpr (requires { request.version(); }) {
    return !ModelsOf(admission).IsLoaded(*admission.tenant, request.name(), request.version()).value_or(true);
  }
  return false;
}

// No unload waits for a load.
template <typename Request>
const char* PlaceBeside() {
  return std::is_same_v<Request, inference::RepositoryModelUnloadRequest> ? " unload" : "";
}

// So large is a request of no call but an inference's.
constexpr size_t kMostRequest = 64u << 10;

template <typename Message>
bool Parse(const grpc::ByteBuffer& bytes, Message& message, const Tenant& tenant) {
  if (bytes.Length() > kMostRequest) return false;
  grpc::ByteBuffer copy(bytes);  // of references
  if (IsCompressed(copy) && !InflateMessage(copy, kMostRequest, tenant.budget())) return false;
  return grpc::SerializationTraits<Message>::Deserialize(&copy, &message).ok();
}

}  // namespace

grpc::Status ToGrpc(const Failure& failure) { return {CodeOf(failure.code), failure.message}; }

template <typename Request, typename Response, typename Answer>
GrpcService::Reactor* GrpcService::Call(Where where, Context* context, const Bytes& request, Bytes& response,
                                        Answer answer) {
  auto* call = new GrpcUnary(parts_.calls, *context, MethodOf<Request>(), request);
  const auto end = [call](const Failure& failure) { call->End(ToGrpc(failure)); };
  try {
    const auto exchange = std::make_shared<Request>();
    const auto run = [call, exchange, &response, answer = std::move(answer)] {
      grpc::Status status;
      try {
        Response told;
        status = answer(call->admission(), *exchange, told);
        bool is_owned = false;
        if (status.ok()) status = grpc::SerializationTraits<Response>::Serialize(told, &response, &is_owned);
        if (status.ok() && response.Length() > kMostUncharged && !call->TakeRoom(response.Length())) {
          status = ToGrpc(NoMemory());
          response.Clear();
        }
      } catch (const std::exception& thrown) {
        status = ToGrpc(ToFailure(thrown));
      }
      call->End(status, response.Valid() ? response.Length() : 0);
    };
    if (where == Where::kHereForAnybody) {  // however many there are: health is told
      call->AdmitAnybody(gate_);
    } else if (call->is_one_too_many()) {
      call->End(TooManyCalls());
      return call;
    } else if (grpc::Status admitted = call->Admit(gate_); !admitted.ok()) {
      call->End(std::move(admitted));
      return call;
    }
    const bool is_request = Parse(request, *exchange, *call->admission().tenant);
    call->about().model = Bounded(NameIn(*exchange), kMostLogged);
    if (!is_request) {
      end(Invalid("the message is not a request of this call"));
    } else if (where == Where::kOnLoader || (where == Where::kWhereLoaded && NeedsLoad(call->admission(), *exchange))) {
      const Place place = PlaceOf(NameIn(*exchange) + PlaceBeside<Request>());
      if (!parts_.loads.Begin({run, end, &call->admission().tenant->share(), &call->cancellation(), place})) {
        end(Workers::TooMany());
      }
    } else {
      run();
    }
  } catch (const std::exception& thrown) {  // nothing was begun
    end(ToFailure(thrown));
  }
  return call;
}

// One request, from its bytes to those of its answer.
class GrpcService::Inference : public std::enable_shared_from_this<GrpcService::Inference> {
 public:
  Inference(GrpcService& service, const Bytes& message, GrpcCall& call, Done done, Part part)
      : service_(service),
        message_(message),
        call_(call),
        done_(std::move(done)),
        part_(std::move(part)),
        charge_(call.admission().tenant->budget()) {}

  // Whether it is one that takes no time. Answers one that is none at all.
  bool IsQuick();
  bool is_ended() const { return is_ended_; }
  bool HasRunOn(QuickLane& quick) { return quick.Run(JobOf(&Inference::Answer)); }
  // On whatever thread has time for that.
  void Answer() { EndWith(&Inference::Infer); }
  // Has the workers whose it is go on with it: of what nobody has read yet, those that read; of a model that is not loaded, those that
  // load; else those that compute.
  void GoOn();
  void End(Outcome<Bytes> answer) {
    if (std::exchange(is_ended_, true)) return;
    done_(std::move(answer), request_.id);
  }

 private:
  Outcome<void> Read();
  Outcome<void> Load();
  Outcome<Bytes> Infer();
  // A text, of which each piece is a response.
  Outcome<Bytes> Generate();
  bool ComesInPieces() const;
  Outcome<TextModels::Name> TextName() const;
  // Whether what follows waits for no load.
  bool IsLoaded();
  Outcome<Bytes> Write(InferResponse response, GrpcForm form) const {
    return WriteResponse(std::move(response), request_.id, form, Charge(tenant().budget()));
  }
  Workers::Job JobOf(void (Inference::*step)());
  // One of the workers does it, and what comes next is another's.
  void ReadNow() { Next(&Inference::Read); }
  void LoadNow() { Next(&Inference::Load); }
  void GenerateNow() { EndWith(&Inference::Generate); }
  void EndWith(Outcome<Bytes> (Inference::*last)());
  void Next(Outcome<void> (Inference::*step)());
  Tenant& tenant() const { return *call_.admission().tenant; }
  Catalog& models() const { return ModelsOf(call_.admission()); }

  GrpcService& service_;
  Bytes message_;  // references to the call's
  GrpcCall& call_;
  const Done done_;
  const Part part_;  // NULL: it has one response
  Charge charge_;
  GrpcRequest request_;
  Workers* texts_ = nullptr;  // who generates, if it comes in pieces
  bool is_read_ = false, is_loaded_ = false, is_ended_ = false;
};

Outcome<void> GrpcService::Inference::Read() {
  if (std::exchange(is_read_, true)) return {};
  if (IsCompressed(message_)) {
    auto done = InflateMessage(message_, service_.parts_.most_message, tenant().budget());
    if (!done) return done;
  } else if (!charge_.Add(message_.Length())) {
    return std::unexpected(NoMemory());
  }
  grpc::ProtoBufferReader reader(&message_);
  if (auto read = ReadRequest(reader, static_cast<int>(message_.Length()), charge_, request_); !read) return read;
  call_.about().model = Bounded(request_.infer.model, kMostLogged);
  return models().CheckServed(tenant(), request_.infer.model, request_.infer.version);
}

Outcome<grpc::ByteBuffer> GrpcService::Inference::Infer() {
  if (auto read = Read(); !read) return std::unexpected(std::move(read.error()));
  auto inferred = models().Infer(tenant(), request_.infer, &call_.cancellation());
  if (!inferred) return std::unexpected(std::move(inferred.error()));
  return Write(std::move(*inferred), part_ == nullptr ? GrpcForm::kResponse : GrpcForm::kStreamFinal);
}

Outcome<TextModels::Name> GrpcService::Inference::TextName() const {
  const auto version = models().VersionOf(request_.infer.model, request_.infer.version);
  if (!version) return std::unexpected(version.error());
  return TextModels::Name{request_.infer.model, *version};
}

// Nothing is asked for that only whole answers have.
bool GrpcService::Inference::ComesInPieces() const {
  const auto is_text = [](const InputTensor& input) {
    return (input.name == kPrompt || input.name == kOptions) && OnlyElement(input.bytes()).has_value();
  };
  const InferRequest& infer = request_.infer;
  const auto asks_otherwise = [](const std::string& options) {  // perhaps: then the answer is whole, too
    return options.contains("\"embedding\"") || options.contains("\"decode\"");
  };
  return part_ != nullptr && FindInput(infer, kPrompt) != nullptr && std::ranges::all_of(infer.inputs, is_text) &&
         std::ranges::all_of(infer.outputs, [](const std::string& name) { return name == kCompletion; }) &&
         !asks_otherwise(TextIn(infer, kOptions)) && models().Generates(infer.model, infer.version);
}

Outcome<grpc::ByteBuffer> GrpcService::Inference::Generate() {
  const InferRequest& infer = request_.infer;
  const auto name = TextName();
  if (!name) return std::unexpected(name.error());
  openai::TextWork work{.models = models(),
                        .tenant = tenant(),
                        .workers = *texts_,
                        .metrics = service_.parts_.metrics,
                        .model = name->model,
                        .version = name->version,
                        .prompts = {.texts = {TextIn(infer, kPrompt)}, .options = TextIn(infer, kOptions)},
                        .charge = Charge(tenant().budget()),
                        .cancellation = {std::shared_ptr<void>(), &call_.cancellation()}};
  if (!work.charge.Add(work.prompts.bytes())) return std::unexpected(NoMemory());
  const auto completion = work.Begin(0);
  if (!completion) return std::unexpected(completion.error());
  for (;;) {
    const auto piece = work.Next(**completion);
    if (!piece) return std::unexpected(piece.error());
    if (!*piece) break;
    if ((*piece)->empty()) continue;
    auto response = Write({work.model, work.version, {TextOutput(**piece)}}, GrpcForm::kStreamPart);
    if (!response) return response;
    if (!part_(std::move(*response))) return std::unexpected(NoMemory());
  }
  if (const auto ending = work.End(**completion); !ending) return std::unexpected(ending.error());
  if (!request_.wants_empty_final) return Bytes();
  return Write({work.model, work.version, {}}, GrpcForm::kStreamFinal);
}

void GrpcService::Inference::EndWith(Outcome<Bytes> (Inference::*last)()) {
  try {
    End((this->*last)());
  } catch (const std::exception& thrown) {
    End(std::unexpected(ToFailure(thrown)));
  }
}

Outcome<void> GrpcService::Inference::Load() {
  is_loaded_ = true;
  const InferRequest& infer = request_.infer;
  auto ready = models().CheckReady(tenant(), infer.model, infer.version);
  if (!ready || !ComesInPieces()) return ready;
  const auto name = TextName();
  if (!name) return std::unexpected(name.error());
  const auto opened = call_.admission().generation->texts().Open(tenant(), *name);
  if (!opened) return std::unexpected(opened.error());
  texts_ = *opened;
  return {};
}

bool GrpcService::Inference::IsLoaded() {
  const InferRequest& infer = request_.infer;
  if (!models().IsLoaded(tenant(), infer.model, infer.version).value_or(false)) return false;
  if (!ComesInPieces()) return true;
  const auto name = TextName();
  if (name) texts_ = call_.admission().generation->texts().WorkersOf(*name);
  return texts_ != nullptr;
}

Workers::Job GrpcService::Inference::JobOf(void (Inference::*step)()) {
  const auto self = shared_from_this();
  return {[self, step] { (self.get()->*step)(); }, [self](const Failure& why) { self->End(std::unexpected(why)); },
          &tenant().share(), &call_.cancellation(), PlaceOf(request_.infer.model)};
}

void GrpcService::Inference::Next(Outcome<void> (Inference::*step)()) {
  try {
    if (auto done = (this->*step)(); !done) return End(std::unexpected(std::move(done.error())));
    GoOn();
  } catch (const std::exception& thrown) {
    End(std::unexpected(ToFailure(thrown)));
  }
}

void GrpcService::Inference::GoOn() {
  bool begun = false;
  if (!is_read_) {
    begun = service_.parts_.workers.Begin(JobOf(&Inference::ReadNow));
  } else if (!is_loaded_ && !IsLoaded()) {
    begun = service_.parts_.loads.Begin(JobOf(&Inference::LoadNow));
  } else if (texts_ != nullptr) {
    Workers::Job job = JobOf(&Inference::GenerateNow);
    job.place = kNoPlace;  // they are all of this model
    begun = texts_->Begin(std::move(job));
  } else {
    begun = models().WorkersFor(request_.infer.model, service_.parts_.workers).Begin(JobOf(&Inference::Answer));
  }
  if (!begun) End(std::unexpected(Workers::TooMany()));
}

bool GrpcService::Inference::IsQuick() {
  if (message_.Length() > kMostInline || IsCompressed(message_)) return false;
  if (auto read = Read(); !read) End(std::unexpected(std::move(read.error())));
  return models().IsQuick(request_.infer.model, request_.infer.version, message_.Length()) && !ComesInPieces();
}

void GrpcService::Infer(const Bytes& message, GrpcCall& call, const Done& done, const Part& part) {
  std::shared_ptr<Inference> inference;
  try {
    inference = std::make_shared<Inference>(*this, message, call, done, part);
    const bool is_quick = inference->IsQuick();
    if (inference->is_ended()) return;
    if (!is_quick) return inference->GoOn();
    if (!inference->HasRunOn(parts_.quick)) inference->End(std::unexpected(Workers::TooMany()));
  } catch (const std::exception& thrown) {
    if (inference == nullptr) return done(std::unexpected(ToFailure(thrown)), {});
    inference->End(std::unexpected(ToFailure(thrown)));
  }
}

GrpcService::Reactor* GrpcService::ModelInfer(Context* context, const Bytes* request, Bytes* response) {
  auto* call = new GrpcUnary(parts_.calls, *context, "ModelInfer", *request);
  if (call->is_one_too_many()) {
    call->End(TooManyCalls());
    return call;
  }
  if (grpc::Status admitted = call->Admit(gate_); !admitted.ok()) {
    call->End(std::move(admitted));
    return call;
  }
  Infer(*request, *call, [call, response](auto answer, const std::string&) {
    if (!answer) return call->End(ToGrpc(answer.error()));
    response->Swap(&*answer);
    call->End(grpc::Status::OK, response->Length());
  });
  return call;
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* GrpcService::ModelStreamInfer(Context* context) {
  return new GrpcStream(*this, parts_.calls, *context);
}

GrpcService::Reactor* GrpcService::ServerLive(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::ServerLiveRequest, inference::ServerLiveResponse>(
      Where::kHereForAnybody, context, *request, *response, [](const auto&, const auto&, auto& told) {
        told.set_live(true);
        return grpc::Status::OK;
      });
}

GrpcService::Reactor* GrpcService::ServerReady(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::ServerReadyRequest, inference::ServerReadyResponse>(
      Where::kHereForAnybody, context, *request, *response,
      [this](const Admission& admission, const auto&, auto& told) {
        const bool is_draining = is_draining_.load(std::memory_order_relaxed);
        told.set_ready(!is_draining && admission.generation->repository().CheckReady().has_value());
        return grpc::Status::OK;
      });
}

GrpcService::Reactor* GrpcService::ServerMetadata(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::ServerMetadataRequest, inference::ServerMetadataResponse>(
      Where::kHere, context, *request, *response,
      [](const auto&, const auto&, auto& told) { return Fill(serve::ServerMetadata(), told); });
}

GrpcService::Reactor* GrpcService::ModelReady(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::ModelReadyRequest, inference::ModelReadyResponse>(
      Where::kHere, context, *request, *response, [](const Admission& admission, const auto& exchange, auto& told) {
        const auto ready = ModelsOf(admission).LookReady(*admission.tenant, exchange.name(), exchange.version());
        told.set_ready(ready.has_value());
        return ready || ready.error().code != WASINN_ERROR_NOT_FOUND ? grpc::Status::OK : ToGrpc(ready.error());
      });
}

GrpcService::Reactor* GrpcService::ModelMetadata(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::ModelMetadataRequest, inference::ModelMetadataResponse>(
      Where::kWhereLoaded, context, *request, *response,
      [](const Admission& admission, const auto& exchange, auto& told) {
        return Fill(ModelsOf(admission).Metadata(*admission.tenant, exchange.name(), exchange.version()), told);
      });
}

GrpcService::Reactor* GrpcService::ModelConfig(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::ModelConfigRequest, inference::ModelConfigResponse>(
      Where::kWhereLoaded, context, *request, *response,
      [](const Admission& admission, const auto& exchange, auto& told) {
        return Fill(ModelsOf(admission).Config(*admission.tenant, exchange.name(), exchange.version()),
                    *told.mutable_config());
      });
}

GrpcService::Reactor* GrpcService::ModelStatistics(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::ModelStatisticsRequest, inference::ModelStatisticsResponse>(
      Where::kHere, context, *request, *response, [this](const Admission& admission, const auto& exchange, auto& told) {
        if (exchange.name().empty())
          return Fill(parts_.statistics.All([&](const std::string& model) { return admission.tenant->Sees(model); }),
                      told);
        Catalog& models = ModelsOf(admission);
        const auto served = models.CheckServed(*admission.tenant, exchange.name(), exchange.version());
        if (!served) return ToGrpc(served.error());
        const auto version = models.VersionOf(exchange.name(), exchange.version());
        return version ? Fill(parts_.statistics.Of(exchange.name(), exchange.version(), *version), told)
                       : ToGrpc(version.error());
      });
}

GrpcService::Reactor* GrpcService::RepositoryIndex(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::RepositoryIndexRequest, inference::RepositoryIndexResponse>(
      Where::kHere, context, *request, *response, [](const Admission& admission, const auto& exchange, auto& told) {
        return Fill(json{{"models", ModelsOf(admission).Index(*admission.tenant, exchange.ready())}}, told);
      });
}

GrpcService::Reactor* GrpcService::RepositoryModelLoad(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::RepositoryModelLoadRequest, inference::RepositoryModelLoadResponse>(
      Where::kOnLoader, context, *request, *response, [](const Admission& admission, const auto& exchange, auto&) {
        for (const auto& [name, value] : exchange.parameters()) {
          if (auto taken = CheckLoadParameter(name); !taken) return ToGrpc(taken.error());
        }
        return ToGrpc(ModelsOf(admission).Load(*admission.tenant, exchange.model_name()));
      });
}

GrpcService::Reactor* GrpcService::RepositoryModelUnload(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::RepositoryModelUnloadRequest, inference::RepositoryModelUnloadResponse>(
      Where::kOnLoader, context, *request, *response, [](const Admission& admission, const auto& exchange, auto&) {
        return ToGrpc(ModelsOf(admission).Unload(*admission.tenant, exchange.model_name()));
      });
}

}  // namespace wasinn::serve

#include "serve/grpc_service.h"

#include <google/protobuf/util/json_util.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <exception>
#include <new>
#include <utility>

#include "serve/grpc_reactors.h"
#include "serve/grpc_request.h"
#include "serve/server_metadata.h"

namespace wasinn::serve {
namespace {

using nlohmann::json;

grpc::StatusCode CodeOf(wasinn_code code) {
  switch (code) {
    case WASINN_NOT_FOUND:
    case WASINN_MODEL_NOT_FOUND:
      return grpc::NOT_FOUND;
    case WASINN_INVALID_ARGUMENT:
    case WASINN_INVALID_ENCODING:
    case WASINN_PROMPT_TOO_LONG:
      return grpc::INVALID_ARGUMENT;
    case WASINN_UNSUPPORTED_OPERATION:
      return grpc::UNIMPLEMENTED;
    case WASINN_TOO_LARGE:
    case WASINN_BUSY:
      return grpc::RESOURCE_EXHAUSTED;
    case WASINN_SECURITY:
      return grpc::PERMISSION_DENIED;
    case WASINN_TIMEOUT:
      return grpc::DEADLINE_EXCEEDED;
    case WASINN_UNAVAILABLE:
    case WASINN_LOST:
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
  return {WASINN_RUNTIME_ERROR, thrown.what()};
}

Catalog& ModelsOf(const Admission& admission) { return admission.generation->models(); }
// "ServerLive" of "ServerLiveRequest".
template <typename Request>
const char* MethodOf() {
  static const std::string name = [] {
    const std::string& request = Request::descriptor()->name();
    return request.substr(0, request.size() - std::string_view("Request").size());
  }();
  return name.c_str();
}

// Of those that have one: "".
template <typename Request>
std::string ModelOf(const Request& request) {
  if constexpr (requires { request.model_name(); }) return Bounded(request.model_name(), kMostLogged);
  if constexpr (requires { request.name(); }) return Bounded(request.name(), kMostLogged);
  return "";
}

// So large is a request of no call but an inference's.
constexpr size_t kMostRequest = 64u << 10;

template <typename Message>
bool Parse(const grpc::ByteBuffer& bytes, Message& message) {
  if (bytes.Length() > kMostRequest) return false;
  grpc::ByteBuffer copy(bytes);  // of references
  return grpc::SerializationTraits<Message>::Deserialize(&copy, &message).ok();
}

}  // namespace

grpc::Status ToGrpc(const Failure& failure) { return {CodeOf(failure.code), failure.message}; }

template <typename Request, typename Response, typename Answer>
GrpcService::Reactor* GrpcService::Call(Where where, Context* context, const Bytes& request, Bytes& response,
                                        Answer answer) {
  auto* call = new GrpcUnary(calls_, *context, MethodOf<Request>(), request);
  const auto end = [call](const Failure& failure) { call->End(ToGrpc(failure)); };
  const auto run = [call, &request, &response, answer = std::move(answer)] {
    grpc::Status status;
    try {
      Request asked;
      Response told;
      const bool is_request = Parse(request, asked);
      call->about().model = ModelOf(asked);
      status = is_request ? answer(call->admission(), asked, told)
                          : ToGrpc(Invalid("the message is not a request of this call"));
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
  try {
    if (where == Where::kHereForAnybody) {  // however many there are: health is told
      call->AdmitAnybody(gate_);
      run();
    } else if (call->is_one_too_many()) {
      call->End(TooManyCalls());
    } else if (grpc::Status admitted = call->Admit(gate_); !admitted.ok()) {
      call->End(std::move(admitted));
    } else if (where == Where::kHere) {
      run();
    } else if (!workers_.Begin({run, end, &call->admission().tenant->share(), &call->cancellation()})) {
      end(Workers::TooMany());
    }
  } catch (const std::exception& thrown) {  // nothing was begun
    end(ToFailure(thrown));
  }
  return call;
}

// One request, from its bytes to those of its answer.
class GrpcService::Inference {
 public:
  Inference(GrpcService& service, const Bytes& message, GrpcCall& call, GrpcForm form, Done done)
      : service_(service),
        message_(message),
        call_(call),
        form_(form),
        done_(std::move(done)),
        charge_(call.admission().tenant->budget()) {}

  // Whether it is one that takes no time. Answers one that is none at all.
  bool IsQuick();
  bool is_ended() const { return is_ended_; }
  // On whatever thread has time for that.
  void Answer();
  // The same of one that nobody has read yet: `answer` is for who has its turn after that, if that is somebody else.
  void ReadAndAnswer(const Workers::Job& answer);
  // Of one that was read.
  bool is_read() const { return is_read_; }
  Workers& workers() const { return models().WorkersFor(request_.infer.model, service_.workers_); }
  void End(Outcome<Bytes> answer) {
    if (std::exchange(is_ended_, true)) return;
    done_(std::move(answer), request_.id);
  }

 private:
  Outcome<void> Read();
  Outcome<Bytes> Infer();
  Tenant& tenant() const { return *call_.admission().tenant; }
  Catalog& models() const { return ModelsOf(call_.admission()); }

  GrpcService& service_;
  Bytes message_;  // references to the call's
  GrpcCall& call_;
  const GrpcForm form_;
  const Done done_;
  Charge charge_;
  GrpcRequest request_;
  bool is_read_ = false, is_ended_ = false;
};

Outcome<void> GrpcService::Inference::Read() {
  if (std::exchange(is_read_, true)) return {};
  if (!charge_.Add(message_.Length())) return std::unexpected(NoMemory());
  grpc::ProtoBufferReader reader(&message_);
  if (auto read = ReadRequest(reader, static_cast<int>(message_.Length()), charge_, request_); !read) return read;
  call_.about().model = Bounded(request_.infer.model, kMostLogged);
  return models().CheckServed(tenant(), request_.infer.model, request_.infer.version);
}

Outcome<grpc::ByteBuffer> GrpcService::Inference::Infer() {
  if (auto read = Read(); !read) return std::unexpected(std::move(read.error()));
  auto inferred = models().Infer(tenant(), request_.infer, &call_.cancellation());
  if (!inferred) return std::unexpected(std::move(inferred.error()));
  return WriteResponse(std::move(*inferred), request_.id, form_, Charge(tenant().budget()));
}

void GrpcService::Inference::Answer() {
  try {
    End(Infer());
  } catch (const std::exception& thrown) {
    End(std::unexpected(ToFailure(thrown)));
  }
}

void GrpcService::Inference::ReadAndAnswer(const Workers::Job& answer) {
  try {
    if (auto read = Read(); !read) return End(std::unexpected(std::move(read.error())));
    if (&workers() == &service_.workers_) return Answer();
    if (!workers().Begin(answer)) End(std::unexpected(Workers::TooMany()));
  } catch (const std::exception& thrown) {
    End(std::unexpected(ToFailure(thrown)));
  }
}

bool GrpcService::Inference::IsQuick() {
  if (message_.Length() > kMostInline) return false;
  if (auto read = Read(); !read) End(std::unexpected(std::move(read.error())));
  return models().IsQuick(request_.infer.model, request_.infer.version, message_.Length());
}

void GrpcService::Infer(const Bytes& message, GrpcCall& call, GrpcForm form, const Done& done) {
  std::shared_ptr<Inference> inference;
  try {
    inference = std::make_shared<Inference>(*this, message, call, form, done);
    const bool is_quick = inference->IsQuick();
    if (inference->is_ended()) return;
    Workers::Job job{[inference] { inference->Answer(); },
                     [inference](const Failure& why) { inference->End(std::unexpected(why)); },
                     &call.admission().tenant->share(), &call.cancellation()};
    Workers& workers = inference->is_read() ? inference->workers() : workers_;
    if (!inference->is_read()) job.run = [inference, job] { inference->ReadAndAnswer(job); };
    const bool begun = is_quick ? quick_.Run(std::move(job)) : workers.Begin(std::move(job));
    if (!begun) inference->End(std::unexpected(Workers::TooMany()));
  } catch (const std::exception& thrown) {
    if (inference == nullptr) return done(std::unexpected(ToFailure(thrown)), {});
    inference->End(std::unexpected(ToFailure(thrown)));
  }
}

GrpcService::Reactor* GrpcService::ModelInfer(Context* context, const Bytes* request, Bytes* response) {
  auto* call = new GrpcUnary(calls_, *context, "ModelInfer", *request);
  if (call->is_one_too_many()) {
    call->End(TooManyCalls());
    return call;
  }
  if (grpc::Status admitted = call->Admit(gate_); !admitted.ok()) {
    call->End(std::move(admitted));
    return call;
  }
  Infer(*request, *call, GrpcForm::kResponse, [call, response](auto answer, const std::string&) {
    if (!answer) return call->End(ToGrpc(answer.error()));
    response->Swap(&*answer);
    call->End(grpc::Status::OK, response->Length());
  });
  return call;
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* GrpcService::ModelStreamInfer(Context* context) {
  return new GrpcStream(*this, calls_, *context);
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
      Where::kHereForAnybody, context, *request, *response, [this](const auto&, const auto&, auto& told) {
        told.set_ready(!is_draining_.load(std::memory_order_relaxed));
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
      Where::kOnWorker, context, *request, *response, [](const Admission& admission, const auto& asked, auto& told) {
        const auto ready = ModelsOf(admission).CheckReady(*admission.tenant, asked.name(), asked.version());
        told.set_ready(ready.has_value());
        return ready || ready.error().code != WASINN_NOT_FOUND ? grpc::Status::OK : ToGrpc(ready.error());
      });
}

GrpcService::Reactor* GrpcService::ModelMetadata(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::ModelMetadataRequest, inference::ModelMetadataResponse>(
      Where::kOnWorker, context, *request, *response, [](const Admission& admission, const auto& asked, auto& told) {
        return Fill(ModelsOf(admission).Metadata(*admission.tenant, asked.name(), asked.version()), told);
      });
}

GrpcService::Reactor* GrpcService::ModelConfig(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::ModelConfigRequest, inference::ModelConfigResponse>(
      Where::kOnWorker, context, *request, *response, [](const Admission& admission, const auto& asked, auto& told) {
        return Fill(ModelsOf(admission).Config(*admission.tenant, asked.name(), asked.version()),
                    *told.mutable_config());
      });
}

GrpcService::Reactor* GrpcService::ModelStatistics(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::ModelStatisticsRequest, inference::ModelStatisticsResponse>(
      Where::kOnWorker, context, *request, *response,
      [this](const Admission& admission, const auto& asked, auto& told) {
        if (asked.name().empty())
          return Fill(statistics_.All([&](const std::string& model) { return admission.tenant->Sees(model); }), told);
        Catalog& models = ModelsOf(admission);
        const auto ready = models.CheckReady(*admission.tenant, asked.name(), asked.version());
        if (!ready) return ToGrpc(ready.error());
        const auto version = models.VersionOf(asked.name(), asked.version());
        return version ? Fill(statistics_.Of(asked.name(), asked.version(), *version), told) : ToGrpc(version.error());
      });
}

GrpcService::Reactor* GrpcService::RepositoryIndex(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::RepositoryIndexRequest, inference::RepositoryIndexResponse>(
      Where::kOnWorker, context, *request, *response, [](const Admission& admission, const auto& asked, auto& told) {
        return Fill(json{{"models", ModelsOf(admission).Index(*admission.tenant, asked.ready())}}, told);
      });
}

GrpcService::Reactor* GrpcService::RepositoryModelLoad(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::RepositoryModelLoadRequest, inference::RepositoryModelLoadResponse>(
      Where::kOnWorker, context, *request, *response, [](const Admission& admission, const auto& asked, auto&) {
        return ToGrpc(ModelsOf(admission).Load(*admission.tenant, asked.model_name()));
      });
}

GrpcService::Reactor* GrpcService::RepositoryModelUnload(Context* context, const Bytes* request, Bytes* response) {
  return Call<inference::RepositoryModelUnloadRequest, inference::RepositoryModelUnloadResponse>(
      Where::kOnWorker, context, *request, *response, [](const Admission& admission, const auto& asked, auto&) {
        return ToGrpc(ModelsOf(admission).Unload(*admission.tenant, asked.model_name()));
      });
}

}  // namespace wasinn::serve

#include "serve/grpc/grpc_service.h"

#include <google/protobuf/util/json_util.h>
#include <grpc/grpc.h>

#include <type_traits>
#include <utility>

#include <inference.grpc.pb.h>
#include "serve/grpc/grpc_calls.h"
#include "serve/http/content_encoding.h"
#include "serve/oip/rest_message.h"

// gRPC's friend class for access to its buffers: the public functions do not show whether they are compressed.
class grpc::internal::GrpcByteBufferPeer {
 public:
  static bool IsCompressed(const grpc::ByteBuffer& message) {
    return message.Valid() && message.buffer_->data.raw.compression != GRPC_COMPRESS_NONE;
  }
};

namespace wasinn::serve {
namespace {

using nlohmann::json;

// The messages have the names of the REST form, so that the content is defined in one place. Throws Failure.
void Fill(const json& content, google::protobuf::Message& message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto filled = google::protobuf::util::JsonStringToMessage(Dump(content), &message, options);
  if (!filled.ok()) throw Failure{WASINN_ERROR_RUNTIME, filled.ToString()};
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

// The model's name, for requests with one; else "".
template <typename Request>
std::string NameIn(const Request& request) {
  if constexpr (requires { request.model_name(); }) return request.model_name();
  if constexpr (requires { request.name(); }) return request.name();
  return "";
}

// Whether a load is needed for an answer.
template <typename Request>
bool NeedsLoad(const Admission& admission, const Request& request) {
  if constexpr (requires { request.version(); }) {
    return !ModelsOf(admission).IsLoaded(*admission.tenant, request.name(), request.version());
  }
  return false;
}

template <typename Request>
Place PlaceFor(const Admission& admission, const Request& request) {
  const Catalog& models = ModelsOf(admission);
  if constexpr (std::is_same_v<Request, inference::RepositoryModelLoadRequest>) {
    return models.PlaceOfLoad(*admission.tenant, request.model_name());
  } else if constexpr (std::is_same_v<Request, inference::RepositoryModelUnloadRequest>) {
    return models.PlaceOfUnload(*admission.tenant, request.model_name());
  } else {
    return PlaceOf(NameIn(request));
  }
}

// The limit of a request, except for inferences.
constexpr size_t kMaxRequest = 64u << 10;

template <typename Message>
bool Parse(const grpc::ByteBuffer& bytes, Message& message, const Tenant& tenant) {
  if (bytes.Length() > kMaxRequest) return false;
  grpc::ByteBuffer copy(bytes);  // a copy of references
  if (IsCompressed(copy) && !Try([&] { InflateMessage(copy, kMaxRequest, tenant.budget(), nullptr); })) return false;
  return grpc::SerializationTraits<Message>::Deserialize(&copy, &message).ok();
}

namespace raw {

using S = inference::GRPCInferenceService;
using Service = S::WithRawCallbackMethod_ServerLive<S::WithRawCallbackMethod_ServerReady<
    S::WithRawCallbackMethod_ServerMetadata<S::WithRawCallbackMethod_ModelReady<S::WithRawCallbackMethod_ModelMetadata<
        S::WithRawCallbackMethod_ModelConfig<S::WithRawCallbackMethod_ModelStatistics<
            S::WithRawCallbackMethod_RepositoryIndex<S::WithRawCallbackMethod_RepositoryModelLoad<
                S::WithRawCallbackMethod_RepositoryModelUnload<S::WithRawCallbackMethod_ModelInfer<
                    S::WithRawCallbackMethod_ModelStreamInfer<S::Service>>>>>>>>>>>>;

}  // namespace raw

class GrpcService final : public raw::Service {
 public:
  explicit GrpcService(const GrpcParts& parts) : parts_(parts) {}

 private:
  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;
  using Bytes = grpc::ByteBuffer;

  // A call with small messages: answered on this thread, or if its model must be loaded first, on one for loads.
  enum class Where { kHere, kHereWithoutKey, kWhereLoaded, kOnLoader };
  template <typename Request, typename Response, typename Answer>
  Reactor* Call(Where where, Context* context, const Bytes& request, Bytes& response, Answer answer) {
    auto* call = new GrpcUnary(parts_.calls, *context, MethodOf<Request>(), request);
    const auto end = [call](const Failure& failure) { call->End(ToGrpc(failure)); };
    try {
      const auto message = std::make_shared<Request>();
      const auto run = [call, message, &response, answer = std::move(answer)] {
        grpc::Status status;
        try {
          Response filled;
          answer(call->admission(), *message, filled);
          bool is_owned = false;
          status = grpc::SerializationTraits<Response>::Serialize(filled, &response, &is_owned);
          if (status.ok() && response.Length() > kMaxUncharged && !call->TakeRoom(response.Length())) {
            status = ToGrpc(NoMemory());
            response.Clear();
          }
        } catch (...) {
          status = ToGrpc(CaughtFailure());
        }
        call->End(status, response.Valid() ? response.Length() : 0);
      };
      if (where == Where::kHereWithoutKey) {  // however many there are: health checks are answered
        call->AdmitWithoutKey(parts_.gate);
      } else if (grpc::Status admitted = call->Admit(parts_.gate); !admitted.ok()) {
        call->End(std::move(admitted));
        return call;
      }
      const bool is_request = Parse(request, *message, *call->admission().tenant);
      call->about().model = Bounded(NameIn(*message), kMaxLogged);
      if (!is_request) throw Invalid("the message is not a request of this call");
      if (where == Where::kOnLoader || (where == Where::kWhereLoaded && NeedsLoad(call->admission(), *message))) {
        const Place place = PlaceFor(call->admission(), *message);
        const Share& share = call->admission().tenant->share();
        if (!parts_.loads.Begin({run, end, &share, &call->cancellation(), place})) throw Workers::TooMany();
      } else {
        run();
      }
    } catch (...) {  // nothing was begun
      end(CaughtFailure());
    }
    return call;
  }

  Reactor* ModelInfer(Context* context, const Bytes* request, Bytes* response) override {
    auto* call = new GrpcUnary(parts_.calls, *context, "ModelInfer", *request);
    if (grpc::Status admitted = call->Admit(parts_.gate); !admitted.ok()) {
      call->End(std::move(admitted));
      return call;
    }
    InferByGrpc(parts_, *request, *call, [call, response](auto answer, const std::string&) {
      if (!answer) return call->End(ToGrpc(answer.error()));
      response->Swap(&*answer);
      call->End(grpc::Status::OK, response->Length());
    });
    return call;
  }
  grpc::ServerBidiReactor<Bytes, Bytes>* ModelStreamInfer(Context* context) override {
    return new GrpcStream(parts_, *context);
  }
  Reactor* ServerLive(Context* context, const Bytes* request, Bytes* response) override {
    return Call<inference::ServerLiveRequest, inference::ServerLiveResponse>(
        Where::kHereWithoutKey, context, *request, *response,
        [](const auto&, const auto&, auto& out) { out.set_live(true); });
  }
  Reactor* ServerReady(Context* context, const Bytes* request, Bytes* response) override {
    return Call<inference::ServerReadyRequest, inference::ServerReadyResponse>(
        Where::kHereWithoutKey, context, *request, *response,
        [this](const Admission& admission, const auto&, auto& out) {
          const bool is_draining = parts_.is_draining.load(std::memory_order_relaxed);
          out.set_ready(!is_draining && Try([&] { admission.generation->repository().CheckReady(); }));
        });
  }
  Reactor* ServerMetadata(Context* context, const Bytes* request, Bytes* response) override {
    return Call<inference::ServerMetadataRequest, inference::ServerMetadataResponse>(
        Where::kHere, context, *request, *response,
        [](const auto&, const auto&, auto& out) { Fill(serve::ServerMetadata(), out); });
  }
  Reactor* ModelReady(Context* context, const Bytes* request, Bytes* response) override {
    return Call<inference::ModelReadyRequest, inference::ModelReadyResponse>(
        Where::kHere, context, *request, *response, [](const Admission& admission, const auto& message, auto& out) {
          const auto ready =
              Try([&] { ModelsOf(admission).LookReady(*admission.tenant, message.name(), message.version()); });
          if (!ready && ready.error().code == WASINN_ERROR_NOT_FOUND) throw Failure(ready.error());
          out.set_ready(ready.has_value());
        });
  }
  Reactor* ModelMetadata(Context* context, const Bytes* request, Bytes* response) override {
    return Call<inference::ModelMetadataRequest, inference::ModelMetadataResponse>(
        Where::kWhereLoaded, context, *request, *response,
        [](const Admission& admission, const auto& message, auto& out) {
          Fill(ModelsOf(admission).Metadata(*admission.tenant, message.name(), message.version()), out);
        });
  }
  Reactor* ModelConfig(Context* context, const Bytes* request, Bytes* response) override {
    return Call<inference::ModelConfigRequest, inference::ModelConfigResponse>(
        Where::kWhereLoaded, context, *request, *response,
        [](const Admission& admission, const auto& message, auto& out) {
          Fill(ModelsOf(admission).Config(*admission.tenant, message.name(), message.version()), *out.mutable_config());
        });
  }
  Reactor* ModelStatistics(Context* context, const Bytes* request, Bytes* response) override {
    return Call<inference::ModelStatisticsRequest, inference::ModelStatisticsResponse>(
        Where::kHere, context, *request, *response, [this](const Admission& admission, const auto& message, auto& out) {
          const Tenant& tenant = *admission.tenant;
          if (message.name().empty()) {
            return Fill(parts_.statistics.All([&](const std::string& model) { return tenant.Sees(model); }), out);
          }
          Catalog& models = ModelsOf(admission);
          models.CheckServed(tenant, message.name(), message.version());
          const std::string version = models.VersionOf(message.name(), message.version());
          Fill(parts_.statistics.Of(message.name(), message.version(), version), out);
        });
  }
  Reactor* RepositoryIndex(Context* context, const Bytes* request, Bytes* response) override {
    return Call<inference::RepositoryIndexRequest, inference::RepositoryIndexResponse>(
        Where::kHere, context, *request, *response, [](const Admission& admission, const auto& message, auto& out) {
          Fill({{"models", ModelsOf(admission).Index(*admission.tenant, message.ready())}}, out);
        });
  }
  Reactor* RepositoryModelLoad(Context* context, const Bytes* request, Bytes* response) override {
    return Call<inference::RepositoryModelLoadRequest, inference::RepositoryModelLoadResponse>(
        Where::kOnLoader, context, *request, *response, [](const Admission& admission, const auto& message, auto&) {
          for (const auto& [name, value] : message.parameters()) CheckLoadParameter(name);
          ModelsOf(admission).Load(*admission.tenant, message.model_name());
        });
  }
  Reactor* RepositoryModelUnload(Context* context, const Bytes* request, Bytes* response) override {
    return Call<inference::RepositoryModelUnloadRequest, inference::RepositoryModelUnloadResponse>(
        Where::kOnLoader, context, *request, *response, [](const Admission& admission, const auto& message, auto&) {
          ModelsOf(admission).Unload(*admission.tenant, message.model_name());
        });
  }

  const GrpcParts parts_;
};

}  // namespace

bool IsCompressed(const grpc::ByteBuffer& message) { return grpc::internal::GrpcByteBufferPeer::IsCompressed(message); }

void InflateMessage(grpc::ByteBuffer& message, uint64_t most, const std::shared_ptr<MemoryBudget>& budget,
                    const Cancellation* cancellation) {
  Charge together(budget);
  grpc::Slice compressed;
  if (!together.Add(message.Length()) || !message.DumpToSingleSlice(&compressed).ok()) {
    throw NoMemory();
  }
  auto inflated =
      Inflate({reinterpret_cast<const char*>(compressed.begin()), compressed.size()}, most, budget, cancellation);
  auto kept = std::make_unique<RequestBytes>(std::move(inflated));
  const grpc::Slice whole(
      const_cast<char*>(kept->view().data()), kept->size(), [](void* it) { delete static_cast<RequestBytes*>(it); },
      kept.get());
  (void)kept.release();
  message = grpc::ByteBuffer(&whole, 1);
}

std::unique_ptr<grpc::Service> NewGrpcService(const GrpcParts& parts) { return std::make_unique<GrpcService>(parts); }

}  // namespace wasinn::serve

#include "serve/grpc_service.h"

#include <google/protobuf/util/json_util.h>

#include <utility>

#include "serve/grpc_stream.h"
#include "serve/grpc_tensors.h"
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

grpc::Status TooManyWait() { return {grpc::RESOURCE_EXHAUSTED, "as many requests wait as may"}; }

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

grpc::ServerUnaryReactor* Now(grpc::CallbackServerContext* context, const grpc::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

grpc::Status Infer(Repository& repository, const InferRequest& request, const std::string& id,
                   inference::ModelInferResponse& response) {
  const Outcome<InferResponse> inferred = repository.Infer(request);
  if (!inferred) return ToGrpc(inferred.error());
  WriteResponse(*inferred, id, response);
  return grpc::Status::OK;
}

}  // namespace

grpc::Status ToGrpc(const Failure& failure) { return {CodeOf(failure.code), failure.message}; }

GrpcService::Reactor* GrpcService::Later(Context* context, std::function<grpc::Status()> work) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const bool begun = workers_.Begin([reactor, work = std::move(work)] { reactor->Finish(work()); });
  if (!begun) reactor->Finish(TooManyWait());
  return reactor;
}

void GrpcService::Infer(const inference::ModelInferRequest& request, inference::ModelInferResponse& response,
                        std::function<void(grpc::Status)> done) {
  Outcome<InferRequest> read = ReadRequest(request);
  if (!read) return done(ToGrpc(read.error()));
  if (repository_.IsQuick(*read)) return done(serve::Infer(repository_, *read, request.id(), response));
  auto work = [this, &request, &response, done, read = std::make_shared<InferRequest>(std::move(*read))] {
    done(serve::Infer(repository_, *read, request.id(), response));
  };
  if (!workers_.Begin(std::move(work))) done(TooManyWait());
}

GrpcService::Reactor* GrpcService::ModelInfer(Context* context, const inference::ModelInferRequest* request,
                                              inference::ModelInferResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  Infer(*request, *response, [reactor](const grpc::Status& status) { reactor->Finish(status); });
  return reactor;
}

grpc::ServerBidiReactor<inference::ModelInferRequest, inference::ModelStreamInferResponse>*
GrpcService::ModelStreamInfer(Context*) {
  return new GrpcStream(*this);  // it deletes itself
}

GrpcService::Reactor* GrpcService::ServerLive(Context* context, const inference::ServerLiveRequest*,
                                              inference::ServerLiveResponse* response) {
  response->set_live(true);
  return Now(context, grpc::Status::OK);
}

GrpcService::Reactor* GrpcService::ServerReady(Context* context, const inference::ServerReadyRequest*,
                                               inference::ServerReadyResponse* response) {
  response->set_ready(!is_draining_.load(std::memory_order_relaxed));
  return Now(context, grpc::Status::OK);
}

GrpcService::Reactor* GrpcService::ServerMetadata(Context* context, const inference::ServerMetadataRequest*,
                                                  inference::ServerMetadataResponse* response) {
  return Now(context, Fill(serve::ServerMetadata(), *response));
}

GrpcService::Reactor* GrpcService::ModelReady(Context* context, const inference::ModelReadyRequest* request,
                                              inference::ModelReadyResponse* response) {
  return Later(context, [this, request, response] {
    const auto found = repository_.Find(request->name(), request->version());
    response->set_ready(found.has_value());
    return found || found.error().code != WASINN_NOT_FOUND ? grpc::Status::OK : ToGrpc(found.error());
  });
}

GrpcService::Reactor* GrpcService::ModelMetadata(Context* context, const inference::ModelMetadataRequest* request,
                                                 inference::ModelMetadataResponse* response) {
  return Later(context, [this, request, response] {
    return Fill(repository_.Metadata(request->name(), request->version()), *response);
  });
}

GrpcService::Reactor* GrpcService::ModelConfig(Context* context, const inference::ModelConfigRequest* request,
                                               inference::ModelConfigResponse* response) {
  return Later(context, [this, request, response] {
    return Fill(repository_.Config(request->name(), request->version()), *response->mutable_config());
  });
}

GrpcService::Reactor* GrpcService::ModelStatistics(Context* context, const inference::ModelStatisticsRequest* request,
                                                   inference::ModelStatisticsResponse* response) {
  if (request->name().empty()) return Now(context, Fill(statistics_.All(), *response));
  return Later(context, [this, request, response] {
    const auto found = repository_.Find(request->name(), request->version());
    if (!found) return ToGrpc(found.error());
    return Fill(statistics_.Of(request->name(), request->version()), *response);
  });
}

GrpcService::Reactor* GrpcService::RepositoryIndex(Context* context, const inference::RepositoryIndexRequest*,
                                                   inference::RepositoryIndexResponse* response) {
  return Now(context, Fill(json{{"models", repository_.Index()}}, *response));
}

GrpcService::Reactor* GrpcService::RepositoryModelLoad(Context* context,
                                                       const inference::RepositoryModelLoadRequest* request,
                                                       inference::RepositoryModelLoadResponse*) {
  return Later(context, [this, request] { return ToGrpc(repository_.Load(request->model_name())); });
}

GrpcService::Reactor* GrpcService::RepositoryModelUnload(Context* context,
                                                         const inference::RepositoryModelUnloadRequest* request,
                                                         inference::RepositoryModelUnloadResponse*) {
  return Later(context, [this, request] { return ToGrpc(repository_.Unload(request->model_name())); });
}

}  // namespace wasinn::serve

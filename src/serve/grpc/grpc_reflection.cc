// Answers of NewGrpcReflection.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/coded_stream.h>

#include <string>
#include <string_view>

#include <inference.pb.h>
#include "base/proto_reader.h"
#include "serve/grpc/grpc_calls.h"
#include "serve/grpc/grpc_messages.h"

namespace wasinn::serve {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::io::CodedOutputStream;

constexpr char kReflectionV1[] = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
constexpr char kReflectionV1Alpha[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
constexpr size_t kMaxQuestion = 4096;

// Fields of ServerReflectionRequest, and of ServerReflectionResponse. Both packages have the same.
enum Asks { kFileByName = 3, kFileContainingSymbol = 4, kListServices = 7 };
enum Answers { kOriginalRequest = 2, kFiles = 4, kServices = 6, kError = 7 };

void AppendField(std::string& to, int field, std::string_view bytes) {
  uint8_t head[16];
  uint8_t* end = CodedOutputStream::WriteVarint32ToArray(BytesTag(field), head);
  end = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(bytes.size()), end);
  to.append(head, end).append(bytes);
}

std::string ReflectionError(grpc::StatusCode code, std::string_view message) {
  std::string error = {static_cast<char>(1 << 3), static_cast<char>(code)};
  AppendField(error, 2, message);
  return error;
}

// With its dependencies, first.
void AppendDescription(const FileDescriptor& file, std::string& files) {
  for (int i = 0; i < file.dependency_count(); ++i) AppendDescription(*file.dependency(i), files);
  google::protobuf::FileDescriptorProto described;
  file.CopyTo(&described);
  AppendField(files, 1, described.SerializeAsString());
}

std::string ServiceNames() {
  std::string services;
  for (const char* const name : {"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                                 "grpc.reflection.v1alpha.ServerReflection", "inference.GRPCInferenceService"}) {
    std::string service;
    AppendField(service, 1, name);
    AppendField(services, 1, service);
  }
  return services;
}

// Throws Failure.
std::string AnswerQuestion(std::string_view question) {
  std::string answer;
  AppendField(answer, kOriginalRequest, question);
  uint32_t what = 0;
  std::string name;
  const std::span bytes(reinterpret_cast<const uint8_t*>(question.data()), question.size());
  RequireWellFormed(base::ForEachField(base::ProtoReader::WithGroups(bytes), [&](const base::ProtoField& field) {
    if (!field.IsBytes(kFileByName) && !field.IsBytes(kFileContainingSymbol) && !field.IsBytes(kListServices)) return;
    what = field.number;
    name = ToText(field.bytes);
  }));
  const DescriptorPool& pool = *inference::ModelInferRequest::descriptor()->file()->pool();
  const FileDescriptor* const file = what == kFileByName             ? pool.FindFileByName(name)
                                     : what == kFileContainingSymbol ? pool.FindFileContainingSymbol(name)
                                                                     : nullptr;
  if (file != nullptr) {
    std::string files;
    AppendDescription(*file, files);
    AppendField(answer, kFiles, files);
  } else if (what == kListServices) {
    AppendField(answer, kServices, ServiceNames());
  } else {
    AppendField(answer, kError,
                what == 0 ? ReflectionError(grpc::UNIMPLEMENTED, "this question is not answered here")
                          : ReflectionError(grpc::NOT_FOUND, "there is nothing of this name"));
  }
  return answer;
}

class Reflection final : public GrpcBidi {
 public:
  Reflection(const Gate& gate, GrpcCalls& calls, grpc::CallbackServerContext& context, const char* method)
      : GrpcBidi(calls, context, method) {
    Begin(gate);
  }

 private:
  void Answer() override {
    grpc::Slice question;
    const bool is_read = request_.Length() <= kMaxQuestion && request_.DumpToSingleSlice(&question).ok();
    if (!is_read) return End({grpc::RESOURCE_EXHAUSTED, "the question has more than 4096 bytes"});
    try {
      const grpc::Slice answer(AnswerQuestion({reinterpret_cast<const char*>(question.begin()), question.size()}));
      response_ = grpc::ByteBuffer(&answer, 1);
    } catch (const Failure& failure) {
      return End({grpc::INVALID_ARGUMENT, failure.message});
    }
    WriteResponse();
  }
  void OnWriteDone(bool ok) override { ok ? ReadNext() : End(grpc::Status::CANCELLED); }
};

class ReflectionService final : public grpc::CallbackGenericService {
 public:
  ReflectionService(const Gate& gate, GrpcCalls& calls) : gate_(gate), calls_(calls) {}

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    for (const char* const method : {kReflectionV1, kReflectionV1Alpha}) {
      if (context->method() == method) return new Reflection(gate_, calls_, *context, method);
    }
    return grpc::CallbackGenericService::CreateReactor(context);
  }

  const Gate& gate_;
  GrpcCalls& calls_;
};

}  // namespace

std::unique_ptr<grpc::CallbackGenericService> NewGrpcReflection(const Gate& gate, GrpcCalls& calls) {
  return std::make_unique<ReflectionService>(gate, calls);
}

}  // namespace wasinn::serve

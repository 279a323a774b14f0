// ModelInfer and each request of ModelStreamInfer. Each step runs on threads where it holds up no other request.
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <utility>

#include "serve/grpc/grpc_calls.h"
#include "serve/grpc/grpc_messages.h"
#include "serve/grpc/grpc_service.h"
#include "serve/openai/text_stream.h"

namespace wasinn::serve {
namespace {

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

// One request, from its bytes to those of its answer.
class GrpcInference : public std::enable_shared_from_this<GrpcInference> {
 public:
  using Bytes = grpc::ByteBuffer;

  GrpcInference(const GrpcParts& parts, const Bytes& message, GrpcCall& call, GrpcDone done, GrpcPart part)
      : parts_(parts),
        message_(message),
        call_(call),
        done_(std::move(done)),
        part_(std::move(part)),
        charge_(call.admission().tenant->budget()) {}

  // Whether it takes no time. Throws Failure if it is not a valid request.
  bool IsQuick() {
    if (message_.Length() > kMaxInline || IsCompressed(message_)) return false;
    Read();
    return models().IsQuick(request_.infer.model, request_.infer.version, message_.Length()) && !ComesInPieces();
  }
  bool HasRunOn(QuickLane& quick) { return quick.Run(JobOf(&GrpcInference::Answer)); }
  // On any thread.
  void Answer() { EndWith(&GrpcInference::Infer); }
  // Continues on the workers for the next step: reading, loading or computing.
  void GoOn() {
    bool begun = false;
    if (!is_read_) {
      begun = parts_.workers.Begin(JobOf(&GrpcInference::ReadNow));
    } else if (!is_loaded_ && !IsLoaded()) {
      begun = parts_.loads.Begin(JobOf(&GrpcInference::LoadNow));
    } else if (texts_ != nullptr) {
      Workers::Job job = JobOf(&GrpcInference::GenerateNow);
      job.place = kNoPlace;  // these workers are only for this model
      begun = texts_->Begin(std::move(job));
    } else {
      begun = models().WorkersFor(request_.infer.model, parts_.workers).Begin(JobOf(&GrpcInference::Answer));
    }
    if (!begun) End(std::unexpected(Workers::TooMany()));
  }
  void End(Outcome<Bytes> answer) {
    if (std::exchange(is_ended_, true)) return;
    done_(std::move(answer), request_.id);
  }

 private:
  // These steps throw Failure.
  void Read() {
    if (std::exchange(is_read_, true)) return;
    if (IsCompressed(message_)) {
      InflateMessage(message_, parts_.most_message, tenant().budget(), &call_.cancellation());
    } else if (!charge_.Add(message_.Length())) {
      throw NoMemory();
    }
    grpc::ProtoBufferReader reader(&message_);
    ReadRequest(reader, static_cast<int>(message_.Length()), charge_, request_);
    call_.about().model = Bounded(request_.infer.model, kMaxLogged);
    models().CheckServed(tenant(), request_.infer.model, request_.infer.version);
  }
  void Load() {
    is_loaded_ = true;
    models().CheckReady(tenant(), request_.infer.model, request_.infer.version);
    if (ComesInPieces()) texts_ = call_.admission().generation->texts().Open(tenant(), TextName());
  }
  Bytes Infer() {
    Read();
    return Write(models().Infer(tenant(), request_.infer, &call_.cancellation()),
                 part_ == nullptr ? GrpcForm::kResponse : GrpcForm::kStreamFinal);
  }
  // A text, of which each piece is a response.
  Bytes Generate() {
    const InferRequest& infer = request_.infer;
    TextModels::Name name = TextName();
    openai::TextWork work{.models = models(),
                          .tenant = tenant(),
                          .workers = *texts_,
                          .metrics = parts_.metrics,
                          .model = std::move(name.model),
                          .version = std::move(name.version),
                          .prompts = {.texts = {TextIn(infer, kPrompt)}, .options = TextIn(infer, kOptions)},
                          .charge = Charge(tenant().budget()),
                          .cancellation = {std::shared_ptr<void>(), &call_.cancellation()}};
    if (!work.charge.Add(work.prompts.bytes())) throw NoMemory();
    const auto completion = work.Begin(0);
    while (const auto piece = work.Next(*completion)) {
      if (piece->empty()) continue;
      if (!part_(Write({work.model, work.version, {TextOutput(*piece)}}, GrpcForm::kStreamPart))) throw NoMemory();
    }
    (void)work.End(*completion);
    if (!request_.wants_empty_final) return Bytes();
    return Write({work.model, work.version, {}}, GrpcForm::kStreamFinal);
  }
  // Whether the answer can be a stream of pieces.
  bool ComesInPieces() const {
    const auto is_text = [](const InputTensor& input) {
      return (input.name == kPrompt || input.name == kOptions) && OnlyElement(input.bytes()).has_value();
    };
    const InferRequest& infer = request_.infer;
    const auto asks_otherwise = [](const std::string& options) {  // perhaps: if so, the answer is whole
      return options.contains("\"embedding\"") || options.contains("\"decode\"");
    };
    return part_ != nullptr && FindInput(infer, kPrompt) != nullptr && std::ranges::all_of(infer.inputs, is_text) &&
           std::ranges::all_of(infer.outputs, [](const std::string& name) { return name == kCompletion; }) &&
           !asks_otherwise(TextIn(infer, kOptions)) && models().Generates(infer.model, infer.version);
  }
  TextModels::Name TextName() const {
    return {request_.infer.model, models().VersionOf(request_.infer.model, request_.infer.version), ""};
  }
  // Whether the next step needs no load.
  bool IsLoaded() {
    const InferRequest& infer = request_.infer;
    if (!Try([&] { return models().IsLoaded(tenant(), infer.model, infer.version); }).value_or(false)) return false;
    if (!ComesInPieces()) return true;
    texts_ = call_.admission().generation->texts().WorkersOf(TextName());
    return texts_ != nullptr;
  }
  Bytes Write(InferResponse response, GrpcForm form) const {
    return WriteResponse(std::move(response), request_.id, form, Charge(tenant().budget()));
  }
  Workers::Job JobOf(void (GrpcInference::*step)()) {
    const auto self = shared_from_this();
    return {[self, step] { (self.get()->*step)(); }, [self](const Failure& why) { self->End(std::unexpected(why)); },
            &tenant().share(), &call_.cancellation(), PlaceOf(request_.infer.model)};
  }
  // These run on a worker, and pass the next step on.
  void ReadNow() { Next(&GrpcInference::Read); }
  void LoadNow() { Next(&GrpcInference::Load); }
  void GenerateNow() { EndWith(&GrpcInference::Generate); }
  void EndWith(Bytes (GrpcInference::*last)()) {
    try {
      End((this->*last)());
    } catch (...) {
      End(std::unexpected(CaughtFailure()));
    }
  }
  void Next(void (GrpcInference::*step)()) {
    try {
      (this->*step)();
      GoOn();
    } catch (...) {
      End(std::unexpected(CaughtFailure()));
    }
  }
  Tenant& tenant() const { return *call_.admission().tenant; }
  Catalog& models() const { return call_.admission().generation->models(); }

  const GrpcParts& parts_;
  Bytes message_;  // references to the call's
  GrpcCall& call_;
  const GrpcDone done_;
  const GrpcPart part_;  // NULL: it has one response
  Charge charge_;
  GrpcRequest request_;
  Workers* texts_ = nullptr;  // for an answer in pieces
  bool is_read_ = false, is_loaded_ = false, is_ended_ = false;
};

}  // namespace

void InferByGrpc(const GrpcParts& parts, const grpc::ByteBuffer& message, GrpcCall& call, const GrpcDone& done,
                 const GrpcPart& part) {
  std::shared_ptr<GrpcInference> inference;
  try {
    inference = std::make_shared<GrpcInference>(parts, message, call, done, part);
    if (!inference->IsQuick()) return inference->GoOn();
    if (!inference->HasRunOn(parts.quick)) inference->End(std::unexpected(Workers::TooMany()));
  } catch (...) {
    if (inference == nullptr) return done(std::unexpected(CaughtFailure()), {});
    inference->End(std::unexpected(CaughtFailure()));
  }
}

}  // namespace wasinn::serve

// A library of a custom operator, as makers of models ship one: test.operators:Twice of floats.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_c_api.h>

static const OrtApi* ort;

static void* CreateKernel(const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info) {
  (void)op, (void)api, (void)info;
  return &ort;  // it has no state
}
static void DestroyKernel(void* kernel) { (void)kernel; }
static const char* NameOf(const OrtCustomOp* op) {
  (void)op;
  return "Twice";
}
static const char* ProviderOf(const OrtCustomOp* op) {
  (void)op;
  return NULL;
}
static size_t CountOne(const OrtCustomOp* op) {
  (void)op;
  return 1;
}
static ONNXTensorElementDataType TypeOf(const OrtCustomOp* op, size_t index) {
  (void)op, (void)index;
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
}
static OrtCustomOpInputOutputCharacteristic IsRequired(const OrtCustomOp* op, size_t index) {
  (void)op, (void)index;
  return INPUT_OUTPUT_REQUIRED;
}

static void Compute(void* kernel, OrtKernelContext* context) {
  (void)kernel;
  const OrtValue* in = NULL;
  OrtValue* out = NULL;
  OrtTensorTypeAndShapeInfo* info = NULL;
  size_t rank = 0, count = 0;
  int64_t dims[8];
  void *from = NULL, *to = NULL;
  if (ort->KernelContext_GetInput(context, 0, &in) || ort->GetTensorTypeAndShape(in, &info) ||
      ort->GetDimensionsCount(info, &rank) || rank > 8 || ort->GetDimensions(info, dims, rank) ||
      ort->GetTensorShapeElementCount(info, &count) || ort->KernelContext_GetOutput(context, 0, dims, rank, &out) ||
      ort->GetTensorMutableData((OrtValue*)in, &from) || ort->GetTensorMutableData(out, &to)) {
    return;
  }
  for (size_t i = 0; i < count; ++i) ((float*)to)[i] = 2 * ((const float*)from)[i];
  ort->ReleaseTensorTypeAndShapeInfo(info);
}

static const OrtCustomOp kTwice = {.version = 10,
                                   .CreateKernel = CreateKernel,
                                   .GetName = NameOf,
                                   .GetExecutionProviderType = ProviderOf,
                                   .GetInputType = TypeOf,
                                   .GetInputTypeCount = CountOne,
                                   .GetOutputType = TypeOf,
                                   .GetOutputTypeCount = CountOne,
                                   .KernelCompute = Compute,
                                   .KernelDestroy = DestroyKernel,
                                   .GetInputCharacteristic = IsRequired,
                                   .GetOutputCharacteristic = IsRequired};

// Sessions refer to it as long as they live, so it is never released.
static OrtCustomOpDomain* domain;

__attribute__((visibility("default"))) OrtStatus* RegisterCustomOps(OrtSessionOptions* options,
                                                                    const OrtApiBase* base) {
  OrtStatus* status = NULL;
  ort = base->GetApi(16);
  if (domain == NULL) {
    status = ort->CreateCustomOpDomain("test.operators", &domain);
    if (status == NULL) status = ort->CustomOpDomain_Add(domain, &kTwice);
  }
  return status != NULL ? status : ort->AddCustomOpDomain(options, domain);
}

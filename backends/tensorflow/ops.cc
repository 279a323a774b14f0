#include "tensorflow/ops.h"

#include <algorithm>

namespace wasinn::tensorflow {

namespace {

// Operations with a kernel for CPUs, of the 1908 that TensorFlow 2.21 registers, that are not marked as stateful, and
// have no argument that is a reference or a resource. Others are left out nevertheless: those that read files
// (ReadFile, ImmutableConst, DecodeProtoV2 …), end the process (Abort), call other code (PyFuncStateless, XlaCustomCall
// …), show uninitialised memory (Empty), or are for training, data sets, debugging, other devices or TensorFlow's own
// tests. Some are added that are only marked as stateful for their random numbers, their calls or checks, and arrays
// that end with the run. Sorted.
// clang-format off
constexpr std::string_view kPure[] = {
    "Abs", "Acos", "Acosh", "Add", "AddN", "AddV2", "AdjustContrast", "AdjustContrastv2", "AdjustHue",
    "AdjustSaturation", "All", "Angle", "Any", "ApproximateEqual", "ArgMax", "ArgMin", "AsString", "Asin", "Asinh",
    "Assert", "Atan", "Atan2", "Atanh", "AudioSpectrogram", "AvgPool", "AvgPool3D", "BandedTriangularSolve",
    "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "BatchNormWithGlobalNormalization", "BatchToSpace",
    "BatchToSpaceND", "BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e",
    "BesselK1", "BesselK1e", "BesselY0", "BesselY1", "Betainc", "BiasAdd", "BiasAddV1", "Bincount", "Bitcast",
    "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BlockLSTM", "BlockLSTMV2", "BroadcastArgs", "BroadcastTo", "Bucketize",
    "CTCBeamSearchDecoder", "CTCGreedyDecoder", "Case", "Cast", "Ceil", "CheckNumerics", "CheckNumericsV2", "Cholesky",
    "ClipByValue", "CombinedNonMaxSuppression", "Complex", "ComplexAbs", "Concat", "ConcatOffset", "ConcatV2", "Conj",
    "ConjugateTranspose", "Const", "ControlTrigger", "Conv", "Conv2D", "Conv3D", "Cos", "Cosh", "CropAndResize",
    "Cross", "Cumprod", "Cumsum", "CumulativeLogsumexp", "DataFormatDimMap", "DataFormatVecPermute", "Dawsn",
    "DecodeAndCropJpeg", "DecodeBase64", "DecodeBmp", "DecodeCSV", "DecodeCompressed", "DecodeGif", "DecodeImage",
    "DecodeJpeg", "DecodePaddedRaw", "DecodePng", "DecodeRaw", "DenseBincount", "DenseCountSparseOutput",
    "DenseToDenseSetOperation", "DenseToSparseSetOperation", "DepthToSpace", "DepthwiseConv2dNative", "Dequantize",
    "Diag", "DiagPart", "Digamma", "Dilation2D", "Div", "DivNoNan", "DrawBoundingBoxes", "DrawBoundingBoxesV2",
    "DynamicPartition", "DynamicStitch", "EditDistance", "Eig", "Einsum", "Elu", "EmptyTensorList", "EncodeBase64",
    "EncodeJpeg", "EncodePng", "EnsureShape", "Enter", "Equal", "Erf", "Erfc", "Erfinv", "EuclideanNorm", "Exit", "Exp",
    "ExpandDims", "Expint", "Expm1", "ExtractGlimpse", "ExtractGlimpseV2", "ExtractImagePatches",
    "ExtractVolumePatches", "FFT", "FFT2D", "FFT3D", "FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars",
    "FakeQuantWithMinMaxVarsPerChannel", "Fill", "Floor", "FloorDiv", "FloorMod", "FractionalAvgPool",
    "FractionalMaxPool", "FresnelCos", "FresnelSin", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3",
    "FusedPadConv2D", "FusedResizeAndPadConv2D", "GRUBlockCell", "Gather", "GatherNd", "GatherV2", "Greater",
    "GreaterEqual", "GuaranteeConst", "HSVToRGB", "HistogramFixedWidth", "IFFT", "IFFT2D", "IFFT3D", "IRFFT", "IRFFT2D",
    "IRFFT3D", "Identity", "IdentityN", "If", "Igamma", "Igammac", "Imag", "ImageProjectiveTransformV2",
    "ImageProjectiveTransformV3", "InTopK", "InTopKV2", "Inv", "Invert", "InvertPermutation", "IsFinite", "IsInf",
    "IsNan", "IsotonicRegression", "L2Loss", "LRN", "LSTMBlockCell", "LeakyRelu", "LeftShift", "Less", "LessEqual",
    "Lgamma", "LinSpace", "ListDiff", "Log", "Log1p", "LogMatrixDeterminant", "LogSoftmax", "LogicalAnd", "LogicalNot",
    "LogicalOr", "LoopCond", "LowerBound", "Lu", "MatMul", "MatrixBandPart", "MatrixDeterminant", "MatrixDiag",
    "MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3", "MatrixDiagV2", "MatrixDiagV3", "MatrixExponential",
    "MatrixInverse", "MatrixLogarithm", "MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3", "MatrixSolve",
    "MatrixSolveLs", "MatrixSquareRoot", "MatrixTriangularSolve", "Max", "MaxPool", "MaxPool3D", "MaxPoolV2",
    "MaxPoolWithArgmax", "Maximum", "Mean", "Merge", "Mfcc", "Min", "Minimum", "MirrorPad", "Mod", "Mul", "MulNoNan",
    "Multinomial", "Ndtri", "Neg", "NextAfter", "NextIteration", "NoOp", "NonMaxSuppression", "NonMaxSuppressionV2",
    "NonMaxSuppressionV3", "NonMaxSuppressionV4", "NonMaxSuppressionV5", "NonMaxSuppressionWithOverlaps", "NotEqual",
    "NthElement", "OneHot", "OnesLike", "Pack", "Pad", "PadV2", "ParallelDynamicStitch", "ParseExample",
    "ParseExampleV2", "ParseSequenceExample", "ParseSequenceExampleV2", "ParseSingleExample",
    "ParseSingleSequenceExample", "PartitionedCall", "Placeholder", "PlaceholderWithDefault", "Polygamma",
    "PopulationCount", "Pow", "PreventGradient", "Prod", "Qr", "QuantizeAndDequantize", "QuantizeAndDequantizeV2",
    "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4", "QuantizeDownAndShrinkRange", "QuantizeV2", "QuantizedAdd",
    "QuantizedAvgPool", "QuantizedBatchNormWithGlobalNormalization", "QuantizedBiasAdd", "QuantizedConcat",
    "QuantizedConcatV2", "QuantizedConv2D", "QuantizedConv2DAndRelu", "QuantizedConv2DAndReluAndRequantize",
    "QuantizedConv2DAndRequantize", "QuantizedConv2DPerChannel", "QuantizedConv2DWithBias",
    "QuantizedConv2DWithBiasAndRelu", "QuantizedConv2DWithBiasAndReluAndRequantize",
    "QuantizedConv2DWithBiasAndRequantize", "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
    "QuantizedConv2DWithBiasSumAndRelu", "QuantizedConv2DWithBiasSumAndReluAndRequantize", "QuantizedDepthwiseConv2D",
    "QuantizedDepthwiseConv2DWithBias", "QuantizedDepthwiseConv2DWithBiasAndRelu",
    "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", "QuantizedInstanceNorm", "QuantizedMatMul",
    "QuantizedMatMulWithBias", "QuantizedMatMulWithBiasAndDequantize", "QuantizedMatMulWithBiasAndRelu",
    "QuantizedMatMulWithBiasAndReluAndRequantize", "QuantizedMatMulWithBiasAndRequantize", "QuantizedMaxPool",
    "QuantizedMul", "QuantizedRelu", "QuantizedRelu6", "QuantizedReshape", "QuantizedResizeBilinear", "RFFT", "RFFT2D",
    "RFFT3D", "RGBToHSV", "RaggedBincount", "RaggedCountSparseOutput", "RaggedFillEmptyRows", "RaggedGather",
    "RaggedRange", "RaggedTensorToSparse", "RaggedTensorToTensor", "RandomCrop", "RandomGamma", "RandomIndexShuffle",
    "RandomPoissonV2", "RandomShuffle", "RandomStandardNormal", "RandomUniform", "RandomUniformInt", "Range", "Rank",
    "Real", "RealDiv", "Reciprocal", "ReduceJoin", "RegexFullMatch", "RegexReplace", "Relu", "Relu6",
    "RequantizationRange", "RequantizationRangePerChannel", "Requantize", "RequantizePerChannel", "Reshape",
    "ResizeArea", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor", "Reverse", "ReverseSequence", "ReverseV2",
    "RightShift", "Rint", "Roll", "Round", "Rsqrt", "ScaleAndTranslate", "ScatterNd", "ScatterNdNonAliasingAdd",
    "SegmentMax", "SegmentMean", "SegmentMin", "SegmentProd", "SegmentSum", "Select", "SelectV2", "SelfAdjointEig",
    "SelfAdjointEigV2", "Selu", "SetSize", "Shape", "ShapeN", "Sigmoid", "Sign", "Sin", "Sinh", "Size", "Slice",
    "Snapshot", "Softmax", "SoftmaxCrossEntropyWithLogits", "Softplus", "Softsign", "SpaceToBatch", "SpaceToBatchND",
    "SpaceToDepth", "SparseAdd", "SparseBincount", "SparseConcat", "SparseCountSparseOutput", "SparseDenseCwiseAdd",
    "SparseDenseCwiseDiv", "SparseDenseCwiseMul", "SparseFillEmptyRows", "SparseMatMul", "SparseReduceMax",
    "SparseReduceMaxSparse", "SparseReduceSum", "SparseReduceSumSparse", "SparseReorder", "SparseReshape",
    "SparseSegmentMean", "SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtN", "SparseSegmentSqrtNWithNumSegments",
    "SparseSegmentSum", "SparseSegmentSumWithNumSegments", "SparseSlice", "SparseSoftmax",
    "SparseSoftmaxCrossEntropyWithLogits", "SparseSparseMaximum", "SparseSparseMinimum", "SparseSplit",
    "SparseTensorDenseAdd", "SparseTensorDenseMatMul", "SparseToDense", "SparseToSparseSetOperation", "Spence", "Split",
    "SplitV", "Sqrt", "Square", "SquaredDifference", "Squeeze", "StatefulPartitionedCall", "StatelessCase",
    "StatelessIf", "StatelessParameterizedTruncatedNormal", "StatelessRandomBinomial", "StatelessRandomGammaV2",
    "StatelessRandomGammaV3", "StatelessRandomGetAlg", "StatelessRandomGetKeyCounter",
    "StatelessRandomGetKeyCounterAlg", "StatelessRandomNormal", "StatelessRandomNormalV2", "StatelessRandomPoisson",
    "StatelessRandomUniform", "StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2",
    "StatelessRandomUniformInt", "StatelessRandomUniformIntV2", "StatelessRandomUniformV2",
    "StatelessSampleDistortedBoundingBox", "StatelessShuffle", "StatelessTruncatedNormal", "StatelessTruncatedNormalV2",
    "StatelessWhile", "StaticRegexFullMatch", "StaticRegexReplace", "StopGradient", "StridedSlice", "StringFormat",
    "StringJoin", "StringLength", "StringLower", "StringNGrams", "StringSplit", "StringSplitV2", "StringStrip",
    "StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong", "StringToNumber", "StringUpper", "Sub",
    "Substr", "Sum", "Svd", "Switch", "Tan", "Tanh", "TensorArrayCloseV3", "TensorArrayConcatV3", "TensorArrayGatherV3",
    "TensorArrayReadV3", "TensorArrayScatterV3", "TensorArraySizeV3", "TensorArraySplitV3", "TensorArrayV3",
    "TensorArrayWriteV3", "TensorListConcat", "TensorListConcatLists", "TensorListConcatV2", "TensorListElementShape",
    "TensorListFromTensor", "TensorListGather", "TensorListGetItem", "TensorListLength", "TensorListPopBack",
    "TensorListPushBack", "TensorListPushBackBatch", "TensorListReserve", "TensorListResize", "TensorListScatter",
    "TensorListScatterIntoExistingList", "TensorListScatterV2", "TensorListSetItem", "TensorListSplit",
    "TensorListStack", "TensorScatterAdd", "TensorScatterMax", "TensorScatterMin", "TensorScatterSub",
    "TensorScatterUpdate", "Tile", "ToBool", "TopK", "TopKV2", "Transpose", "TridiagonalMatMul", "TridiagonalSolve",
    "TruncateDiv", "TruncateMod", "TruncatedNormal", "UnicodeDecode", "UnicodeDecodeWithOffsets", "UnicodeEncode",
    "UnicodeScript", "UnicodeTranscode", "UniformDequantize", "UniformQuantize", "UniformQuantizedAdd",
    "UniformQuantizedClipByValue", "UniformQuantizedConvolution", "UniformQuantizedConvolutionHybrid",
    "UniformQuantizedDot", "UniformQuantizedDotHybrid", "UniformRequantize", "Unique", "UniqueV2", "UniqueWithCounts",
    "UniqueWithCountsV2", "Unpack", "UnravelIndex", "UnsortedSegmentJoin", "UnsortedSegmentMax", "UnsortedSegmentMin",
    "UnsortedSegmentProd", "UnsortedSegmentSum", "UpperBound", "Where", "While", "Xdivy", "Xlog1py", "Xlogy",
    "ZerosLike", "Zeta",
};
static_assert(std::ranges::is_sorted(kPure));

constexpr std::string_view kReadsState[] = {
    "HashTable", "HashTableV2", "LookupTableFind", "LookupTableFindV2", "LookupTableSize", "LookupTableSizeV2",
    "ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VarHandleOp", "VarIsInitializedOp", "Variable",
    "VariableShape", "VariableV2",
};
static_assert(std::ranges::is_sorted(kReadsState));

constexpr std::string_view kDrawsRandom[] = {
    "FractionalAvgPool", "FractionalMaxPool", "Multinomial", "ParameterizedTruncatedNormal", "RandomCrop",
    "RandomGamma", "RandomPoisson", "RandomPoissonV2", "RandomShuffle", "RandomStandardNormal", "RandomUniform",
    "RandomUniformInt", "TruncatedNormal",
};
static_assert(std::ranges::is_sorted(kDrawsRandom));

// Operations with kernels for CPUs in TensorFlow 2.21, including those that its optimizers use instead: they allocate
// an output, or pass an input's buffer on. None calls Tensor::Slice or SubSlice for its result. A variable has the
// value from loading, because nothing here assigns one.
constexpr std::string_view kGivesWholeBuffers[] = {
    "Abs", "Add", "AddN", "AddV2", "All", "Any", "ArgMax", "ArgMin", "AvgPool", "BatchMatMul", "BatchMatMulV2",
    "BatchMatMulV3", "BiasAdd", "Cast", "Ceil", "ConcatV2", "Const", "Conv2D", "DepthwiseConv2dNative", "Div",
    "DivNoNan", "Elu", "Equal", "Erf", "Exp", "ExpandDims", "Fill", "Floor", "FusedBatchNorm", "FusedBatchNormV2",
    "FusedBatchNormV3", "GatherV2", "Greater", "GreaterEqual", "Identity", "LeakyRelu", "Less", "LessEqual", "Log",
    "LogSoftmax", "LogicalAnd", "LogicalNot", "LogicalOr", "MatMul", "Max", "MaxPool", "Maximum", "Mean", "Min",
    "Minimum", "Mul", "Neg", "NoOp", "NotEqual", "Pack", "Pad", "PadV2", "PartitionedCall", "Placeholder",
    "PlaceholderWithDefault", "Pow", "Prod", "ReadVariableOp", "RealDiv", "Relu", "Relu6", "Reshape", "Round", "Rsqrt",
    "Selu", "Shape", "Sigmoid", "Softmax", "Softplus", "Sqrt", "Square", "SquaredDifference", "Squeeze",
    "StatefulPartitionedCall", "StopGradient", "Sub", "Sum", "Tanh", "Tile", "Transpose", "VarHandleOp",
};
static_assert(std::ranges::is_sorted(kGivesWholeBuffers));

constexpr std::string_view kReachesOut[] = {
    "Abort", "Copy", "CopyHost", "DTensorRestoreV2", "DatasetToTFRecord", "DecodeProtoV2", "DistributedSave",
    "DumpTensor", "EncodeProto", "FileSystemSetConfiguration", "GenerateVocabRemapping", "ImmutableConst",
    "ImportEvent", "InitializeTableFromTextFile", "InitializeTableFromTextFileV2", "ListSnapshotChunksDataset",
    "LoadAndRemapMatrix", "MatchingFiles", "MergeV2Checkpoints", "MlirPassthroughOp", "Print", "PrintV2", "ReadFile",
    "RecordInput", "Recv", "RemoteCall", "Restore", "RestoreSlice", "RestoreV2", "Save", "SaveSlices", "SaveV2", "Send",
    "WriteFile",
};
static_assert(std::ranges::is_sorted(kReachesOut));

// Families with many members, and those of versions to come.
constexpr std::string_view kReachesOutParts[] = {
    "CSVDataset", "CacheDataset", "CalibrationStatisticsSaver", "Collective", "DataService", "DebugIdentity",
    "DebugNanCount", "DebugNumericSummary", "FixedLengthRecord", "LMDB", "LoadDataset", "MatchingFiles", "Nccl",
    "PyFunc", "Reader", "Rpc", "SaveDataset", "SnapshotChunk", "SnapshotDataset", "SqlDataset", "SummaryDbWriter",
    "SummaryFileWriter", "TFRecord", "TPU", "TextLine", "XlaCustomCall",
};

// clang-format on

constexpr std::string_view kSaver[] = {"MergeV2Checkpoints", "RestoreV2", "SaveV2"};

}  // namespace

bool IsPure(std::string_view op) { return std::ranges::binary_search(kPure, op); }

bool OnlyReadsState(std::string_view op) { return std::ranges::binary_search(kReadsState, op); }

bool DrawsRandom(std::string_view op) { return std::ranges::binary_search(kDrawsRandom, op); }

bool GivesWholeBuffers(std::string_view op) { return std::ranges::binary_search(kGivesWholeBuffers, op); }

bool ReachesOut(std::string_view op) {
  return std::ranges::binary_search(kReachesOut, op) ||
         std::ranges::any_of(kReachesOutParts, [op](std::string_view part) { return op.contains(part); });
}

bool IsOfSaver(std::string_view op) { return std::ranges::find(kSaver, op) != std::end(kSaver); }

}  // namespace wasinn::tensorflow

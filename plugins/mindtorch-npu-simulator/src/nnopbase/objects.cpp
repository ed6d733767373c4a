// Constructors, destructors and accessors of the parameter objects.
#include "objects.h"

#include <cstring>

#include "../core/core.h"

using sim::Kind;

namespace {

constexpr aclnnStatus OK = code::SUCCESS;

template <class T>
T *made(T *object) {
  sim::adopt(object, sim::kind_of(object));
  return object;
}

template <class T>
aclnnStatus destroyed(const T *object, const char *caller) {
  if (const int32_t injected = sim::enter(caller)) return injected;
  if (object == nullptr) return OK;
  const Kind kind = sim::kind_of(object);
  if (!sim::retire(object, kind, caller))
    return sim::fail(code::ACLNN_INNER, std::string(caller) + ": not a live handle");
  sim::bury(kind, const_cast<T *>(object));
  return OK;
}

// Whether an accessor's arguments can be used; sets the code if not.
template <class T, class... Results>
bool usable(const char *caller, aclnnStatus &status, const T *object, const Results *...results) {
  status = sim::enter(caller);
  if (status != OK) return false;
  if (object == nullptr || ((results == nullptr) || ...)) {
    status =
        sim::fail(code::ACLNN_PARAM_NULLPTR, std::string(caller) + ": a null pointer was given");
    return false;
  }
  if (sim::live(object, sim::kind_of(object), caller)) return true;
  status = sim::fail(code::ACLNN_PARAM_INVALID, std::string(caller) + ": not a live handle");
  return false;
}

// An array for the caller, who frees it with delete[].
void copied(const sim::Dims &values, int64_t **array, uint64_t *count) {
  *array = new int64_t[values.size()];
  std::copy(values.begin(), values.end(), *array);
  *count = values.size();
}

bool describe(aclTensor &t, const int64_t *dims, uint64_t rank, aclDataType d,
              const int64_t *stride, int64_t offset, aclFormat format, const int64_t *storage,
              uint64_t storage_rank, void *data) {
  if ((dims == nullptr && rank > 0) || (storage == nullptr && storage_rank > 0)) return false;
  if (d < 0 || offset < 0) return false;
  t.shape.assign(dims, dims + rank);
  t.storage.assign(storage, storage + storage_rank);
  t.strides =
      stride != nullptr ? sim::Dims(stride, stride + rank) : sim::contiguous_strides(t.shape);
  for (const int64_t size : t.shape) {
    if (size < 0) return false;
  }
  for (const int64_t step : t.strides) {
    if (step < 0) return false;
  }
  t.offset = offset;
  t.dtype = d;
  t.format = format;
  t.data = data;
  return true;
}

template <class Array, class T>
Array *array_of(const char *caller, const T *value, uint64_t size) {
  if (sim::enter(caller) != OK) return nullptr;
  if (value == nullptr && size > 0) {
    sim::fail(code::ACLNN_PARAM_NULLPTR, std::string(caller) + ": value is null");
    return nullptr;
  }
  auto *array = new Array;
  array->values.assign(value, value + size);
  return made(array);
}

// A list owns its members: nobody else may destroy them, so they leave the registry of handles only
// with it.
template <class List, class T>
List *list_of(const char *caller, const T *const *value, uint64_t size) {
  if (sim::enter(caller) != OK) return nullptr;
  if (value == nullptr && size > 0) {
    sim::fail(code::ACLNN_PARAM_NULLPTR, std::string(caller) + ": value is null");
    return nullptr;
  }
  auto *list = new List;
  for (uint64_t i = 0; i < size; ++i) {
    if (value[i] != nullptr && !sim::live(value[i], sim::kind_of(value[i]), caller)) {
      delete list;
      return nullptr;
    }
    list->members.push_back(const_cast<T *>(value[i]));
  }
  return made(list);
}

template <class List>
aclnnStatus destroyed_with_members(const List *list, const char *caller) {
  if (const int32_t injected = sim::enter(caller)) return injected;
  if (list == nullptr) return OK;
  const Kind kind = sim::kind_of(list);
  if (!sim::retire(list, kind, caller))
    return sim::fail(code::ACLNN_INNER, std::string(caller) + ": not a live handle");
  for (auto *member : list->members) {
    if (member == nullptr) continue;
    const Kind of = sim::kind_of(member);
    if (sim::retire(member, of, caller)) sim::bury(of, member);
  }
  sim::bury(kind, const_cast<List *>(list));
  return OK;
}

}  // namespace

// ---- tensors ------------------------------------------------------------------------------------

CANN_EXPORT aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum,
                                       aclDataType dataType, const int64_t *stride, int64_t offset,
                                       aclFormat format, const int64_t *storageDims,
                                       uint64_t storageDimsNum, void *tensorData) {
  if (sim::enter("aclCreateTensor") != OK) return nullptr;
  auto *t = new aclTensor;
  if (describe(*t, viewDims, viewDimsNum, dataType, stride, offset, format, storageDims,
               storageDimsNum, tensorData)) {
    return made(t);
  }
  delete t;
  sim::fail(code::ACLNN_PARAM_INVALID, "aclCreateTensor: dims, strides or offset are not valid");
  return nullptr;
}

CANN_EXPORT aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims,
                                      uint64_t viewDimsNum, aclDataType dataType,
                                      const int64_t *stride, int64_t offset, aclFormat format,
                                      const int64_t *storageDims, uint64_t storageDimsNum,
                                      void *tensorDataAddr) {
  aclnnStatus status;
  if (!usable("aclInitTensor", status, tensor)) return status;
  const bool valid = describe(*tensor, viewDims, viewDimsNum, dataType, stride, offset, format,
                              storageDims, storageDimsNum, tensorDataAddr);
  return valid ? OK
               : sim::fail(code::ACLNN_PARAM_INVALID,
                           "aclInitTensor: dims, strides or offset are not valid");
}

CANN_EXPORT aclnnStatus aclDestroyTensor(const aclTensor *tensor) {
  return destroyed(tensor, "aclDestroyTensor");
}

CANN_EXPORT aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims,
                                        uint64_t *viewDimsNum) {
  aclnnStatus status;
  if (!usable("aclGetViewShape", status, tensor, viewDims, viewDimsNum)) return status;
  copied(tensor->shape, viewDims, viewDimsNum);
  return OK;
}

CANN_EXPORT aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims,
                                           uint64_t *storageDimsNum) {
  aclnnStatus status;
  if (!usable("aclGetStorageShape", status, tensor, storageDims, storageDimsNum)) return status;
  copied(tensor->storage, storageDims, storageDimsNum);
  return OK;
}

CANN_EXPORT aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue,
                                          uint64_t *stridesNum) {
  aclnnStatus status;
  if (!usable("aclGetViewStrides", status, tensor, stridesValue, stridesNum)) return status;
  copied(tensor->strides, stridesValue, stridesNum);
  return OK;
}

CANN_EXPORT aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset) {
  aclnnStatus status;
  if (!usable("aclGetViewOffset", status, tensor, offset)) return status;
  *offset = tensor->offset;
  return OK;
}

CANN_EXPORT aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format) {
  aclnnStatus status;
  if (!usable("aclGetFormat", status, tensor, format)) return status;
  *format = tensor->format;
  return OK;
}

CANN_EXPORT aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType) {
  aclnnStatus status;
  if (!usable("aclGetDataType", status, tensor, dataType)) return status;
  *dataType = tensor->dtype;
  return OK;
}

CANN_EXPORT aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr) {
  aclnnStatus status;
  if (!usable("aclGetRawTensorAddr", status, tensor, addr)) return status;
  *addr = tensor->data;
  return OK;
}

CANN_EXPORT aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr) {
  aclnnStatus status;
  if (!usable("aclSetRawTensorAddr", status, tensor)) return status;
  tensor->data = addr;
  return OK;
}

// ---- scalars ------------------------------------------------------------------------------------

CANN_EXPORT aclScalar *aclCreateScalar(void *value, aclDataType dataType) {
  if (sim::enter("aclCreateScalar") != OK) return nullptr;
  if (value == nullptr || sim::item_size(dataType) == 0) {
    sim::fail(code::ACLNN_PARAM_INVALID,
              "aclCreateScalar: value is null or the data type has no numbers");
    return nullptr;
  }
  auto *scalar = new aclScalar;
  scalar->dtype = dataType;
  sim::with_storage(dataType, [&](auto element) {
    std::memcpy(&element, value, sizeof element);
    scalar->value = sim::convert<std::complex<double>>(element);
    scalar->whole = sim::convert<int64_t>(element);
  });
  return made(scalar);
}

CANN_EXPORT aclnnStatus aclDestroyScalar(const aclScalar *scalar) {
  return destroyed(scalar, "aclDestroyScalar");
}

// ---- arrays and lists ---------------------------------------------------------------------------

CANN_EXPORT aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size) {
  return array_of<aclIntArray>("aclCreateIntArray", value, size);
}

CANN_EXPORT aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size) {
  return array_of<aclFloatArray>("aclCreateFloatArray", value, size);
}

CANN_EXPORT aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size) {
  return array_of<aclBoolArray>("aclCreateBoolArray", value, size);
}

CANN_EXPORT aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size) {
  return list_of<aclTensorList>("aclCreateTensorList", value, size);
}

CANN_EXPORT aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size) {
  return list_of<aclScalarList>("aclCreateScalarList", value, size);
}

CANN_EXPORT aclnnStatus aclDestroyIntArray(const aclIntArray *array) {
  return destroyed(array, "aclDestroyIntArray");
}

CANN_EXPORT aclnnStatus aclDestroyFloatArray(const aclFloatArray *array) {
  return destroyed(array, "aclDestroyFloatArray");
}

CANN_EXPORT aclnnStatus aclDestroyBoolArray(const aclBoolArray *array) {
  return destroyed(array, "aclDestroyBoolArray");
}

CANN_EXPORT aclnnStatus aclDestroyTensorList(const aclTensorList *array) {
  return destroyed_with_members(array, "aclDestroyTensorList");
}

CANN_EXPORT aclnnStatus aclDestroyScalarList(const aclScalarList *array) {
  return destroyed_with_members(array, "aclDestroyScalarList");
}

#define ARRAY_SIZE(Name, Type, field)                                             \
  CANN_EXPORT aclnnStatus aclGet##Name##Size(const Type *array, uint64_t *size) { \
    aclnnStatus status;                                                           \
    if (!usable("aclGet" #Name "Size", status, array, size)) return status;       \
    *size = array->field.size();                                                  \
    return OK;                                                                    \
  }
ARRAY_SIZE(IntArray, aclIntArray, values)
ARRAY_SIZE(FloatArray, aclFloatArray, values)
ARRAY_SIZE(BoolArray, aclBoolArray, values)
ARRAY_SIZE(TensorList, aclTensorList, members)
ARRAY_SIZE(ScalarList, aclScalarList, members)

// ---- the operator layer as a whole --------------------------------------------------------------

CANN_EXPORT aclnnStatus aclnnInit(const char *) { return sim::enter("aclnnInit"); }

CANN_EXPORT aclnnStatus aclnnFinalize() { return sim::enter("aclnnFinalize"); }

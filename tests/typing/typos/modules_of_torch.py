"""Names that modules of torch do not have, in those too whose names exist so that libraries can be imported."""

import mindtorch as torch
import mindtorch_core
from mindtorch import nn

torch.nn.Linaer(2, 2)  # wrong: name
nn.Linaer(2, 2)  # wrong: name
print(torch.utils.nonexistent)  # wrong: name
print(torch.utils.data.DataLoadr)  # wrong: name
print(torch.utils.checkpoint.chekpoint)  # wrong: name
torch.cuda.is_avalable()  # wrong: name
print(torch.backends.cudnnn)  # wrong: name
print(torch.jit.scrpt)  # wrong: name
print(torch.onnx.exprt)  # wrong: name
print(torch.fx.symbolic_trac)  # wrong: name
print(torch.distributed.init_proces_group)  # wrong: name
print(torch.quantization.nonexistent)  # wrong: name
print(torch.ao.nonexistent)  # wrong: name
print(torch.ao.quantization.nonexistent)  # wrong: name
print(torch.package.PackageExportr)  # wrong: name
print(torch.export.exprt)  # wrong: name
print(torch.nested.nonexistent)  # wrong: name
print(torch.monitor.nonexistent)  # wrong: name
print(torch.functional.einsumm)  # wrong: name
print(torch.futures.nonexistent)  # wrong: name
print(mindtorch_core.package.PackageExportr)  # wrong: name
print(mindtorch_core.quasirandom.SobolEngin)  # wrong: name
print(torch.package.PackageExporter, torch.quasirandom.SobolEngine, torch.export.export)
print(torch.functional.einsum, torch.torch_version.TorchVersion)

"""Misspelt functions, methods and arguments: each marked line is to be reported, and no other."""

import mindtorch_core as torch
import mindtorch_core.nn.functional as F

a, b = torch.ones(2, 3), torch.zeros(2, 3)

torch.ad(a, b)  # wrong: name
torch.add(a, b)
torch.zeros(2, dtyp=torch.float32)  # wrong: keyword
torch.zeros(2, dtype=torch.float32)
torch.zeros(2, dtype="float32")  # wrong: a string is no dtype
torch.float23  # wrong: name
a.sumn()  # wrong: method
a.sum(dims=0)  # wrong: keyword
a.sum(dim=0, keepdim=True)
a.reshape("2", 3)  # wrong: type
a.reshape(3, 2)
a.shap  # wrong: attribute
torch.cat(a)  # wrong: a tensor is no list of them
torch.cat([a, b], dim=0)
torch.softmax(a)  # wrong: dim is missing
torch.softmax(a, dim=1)
torch.linalg.normm(a)  # wrong: name
torch.fft.ftt(a)  # wrong: name
F.reluu(a)  # wrong: name
F.relu(a, inplac=True)  # wrong: keyword
F.relu(a, inplace=True)
F.cross_entropy(a, b, reduction=1)  # wrong: type
torch.manual_sed(0)  # wrong: name
torch.no_gard()  # wrong: name
torch.special.erff(a)  # wrong: name
torch.cuda.is_availabel()  # wrong: name
torch.cuda.is_available()
torch.utils.dataa  # wrong: name
number: int = a.sum()  # wrong: a tensor
text: str = a.item()  # wrong: a number
count: float = a.item()
first: str = a.shape[0]  # wrong: an int
size: int = a.size(0)
array: int = a.numpy()  # wrong: an array
listed: int = a.tolist()  # wrong: a list
a.to(dtyp=torch.float64)  # wrong: keyword
a.to("cpu", torch.float64, copy=True).to(b).to(dtype=torch.int64)
values, indices = a.max(dim=1)
values.vales  # wrong: attribute
a + "b"  # wrong: type
a[0] = 3
a += 1

"""Misspelt modules, optimizers, data sets and distributions: each marked line is to be reported."""

import mindtorch as torch
from mindtorch import nn
from mindtorch.optim.lr_scheduler import StepLR
from mindtorch.utils.data import DataLoader, TensorDataset

nn.Liner(2, 3)  # wrong: name
nn.Linear(2, 3)
nn.Linear(2)  # wrong: out_features is missing
nn.Linear(2, "3")  # wrong: type
nn.Linear(2, 3, bais=True)  # wrong: keyword
nn.Conv2d(1, 2, kernel=3)  # wrong: keyword
nn.Conv2d(1, 2, kernel_size=3)
nn.init.xavier_unifrm_(torch.ones(2, 2))  # wrong: name
nn.utils.clip_grad_nrm_([], 1.0)  # wrong: name
nn.functional.gelu(torch.ones(2), aproximate="tanh")  # wrong: keyword
nn.Parameter(torch.ones(2)).grad
nn.Parameter([1.0])  # wrong: type

model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
torch.optim.Adm(model.parameters())  # wrong: name
torch.optim.SGD(model.parameters(), lr=0.1, momentun=0.9)  # wrong: keyword
torch.optim.SGD(model.parameters(), lr="0.1")  # wrong: type
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
optimizer.zero_gard()  # wrong: method
optimizer.zero_grad()
StepLR(optimizer)  # wrong: step_size is missing
StepLR(optimizer, step_sise=2)  # wrong: keyword
StepLR(model, 2)  # wrong: type
StepLR(optimizer, 2)

data = TensorDataset(torch.ones(4, 2))
DataLoader(data, batchsize=2)  # wrong: keyword
DataLoader(data, batch_size="2")  # wrong: type
DataLoader(data, batch_size=2)
torch.utils.data.DataLoder(data)  # wrong: name

torch.distributions.Norml(0.0, 1.0)  # wrong: name
torch.distributions.Normal(0.0, scal=1.0)  # wrong: keyword
torch.distributions.Normal(0.0, 1.0).smple()  # wrong: method
torch.distributions.Normal(0.0, 1.0).sample()
nn.LSTM(2, 3, num_layer=2)  # wrong: keyword
nn.LSTM(2, 3, num_layers=2, batch_first=True)
nn.TransformerEncoderLayer(8, heads=2)  # wrong: keyword
nn.TransformerEncoderLayer(8, nhead=2)
model.train(mod=True)  # wrong: keyword
model.trian()  # wrong: name
model.parametrs()  # wrong: name
model.load_statedict({})  # wrong: name
linear = nn.Linear(2, 3)
torch.relu(linear.wieght)  # wrong: name
torch.relu(linear.weight)
range(linear.out_featurs)  # wrong: name
range(linear.out_features)
layer = nn.TransformerEncoderLayer(8, 2)
range(layer.self_attn.num_heads)
float(layer.norm1.eps + layer.dropout2.p)
nn.Sequential(3)  # wrong: type
nn.utils.clip_grad_norm(model.parameters(), max_nrom=1.0)  # wrong: keyword
torch.load("weights.pt", weight_only=True)  # wrong: keyword
torch.load("weights.pt", weights_only=False, encoding="latin1")
model.eval(1)  # wrong: no argument
model.load_state_dict({}, stric=False)  # wrong: keyword
torch.save(model.state_dict())  # wrong: the file is missing
torch.pipelin()  # wrong: name

import numpy as np
import torch

t = torch.ones(5)
n = t.numpy()
t.add_(1)
print(t, n)
n = np.ones(5)
t = torch.from_numpy(n)
np.add(n, 1, out=n)
print(t, n, np.asarray(torch.arange(3)), torch.tensor(np.float32(2.5)), torch.as_tensor(n).dtype)
print(torch.utils.dlpack.from_dlpack(t) if False else torch.from_dlpack(np.arange(3)))

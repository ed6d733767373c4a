import torch
import torch.nn.functional as F

x = torch.tensor([[-1.0, 0.0, 1.0, 2.0]])
print(F.relu(x), F.softmax(x, dim=1), F.gelu(x), F.leaky_relu(x, 0.1), F.one_hot(torch.arange(3)))
print(
    F.cross_entropy(x, torch.tensor([3])),
    F.mse_loss(x, torch.zeros(1, 4)),
    F.normalize(x),
    F.pad(x, (1, 1)),
)
image = torch.arange(16.0).reshape(1, 1, 4, 4)
print(F.conv2d(image, torch.ones(1, 1, 2, 2)), F.max_pool2d(image, 2), F.avg_pool2d(image, 2))
print(F.interpolate(image, scale_factor=0.5), F.layer_norm(x, (4,)), F.linear(x, torch.ones(2, 4)))
print(F.embedding(torch.tensor([1, 0]), torch.arange(4.0).reshape(2, 2)), F.cosine_similarity(x, x))

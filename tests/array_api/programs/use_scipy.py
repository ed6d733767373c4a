"""SciPy's functions that follow the array API: tensors in, tensors out, and NumPy's numbers."""

import warnings

import numpy as np
from scipy import cluster, fft, integrate, ndimage, signal, special, stats
from scipy.spatial.transform import Rotation

import mindtorch_core as torch
from mindtorch_core import array_api as xp

warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(30, 4))
Y = np.random.default_rng(1).normal(size=(30, 4))

CASES = {
    "stats.zscore": lambda t: stats.zscore(t(X)),
    "stats.skew": lambda t: stats.skew(t(X)),
    "stats.kurtosis": lambda t: stats.kurtosis(t(X)),
    "stats.moment": lambda t: stats.moment(t(X), order=3),
    "stats.gmean": lambda t: stats.gmean(t(np.abs(X))),
    "stats.entropy": lambda t: stats.entropy(t(np.abs(X))),
    "stats.ttest_ind": lambda t: stats.ttest_ind(t(X), t(Y)).pvalue,
    "stats.ttest_1samp": lambda t: stats.ttest_1samp(t(X), 0.0).statistic,
    "stats.pearsonr": lambda t: stats.pearsonr(t(X[:, 0]), t(Y[:, 0])).statistic,
    "stats.jarque_bera": lambda t: stats.jarque_bera(t(X[:, 0])).statistic,
    "stats.bartlett": lambda t: stats.bartlett(t(X[:, 0]), t(Y[:, 0])).statistic,
    "stats.variation": lambda t: stats.variation(t(X)),
    "fft.fft": lambda t: fft.fft(t(X)),
    "fft.rfftn": lambda t: fft.rfftn(t(X)),
    "fft.irfft": lambda t: fft.irfft(t(X)),
    "fft.fftshift": lambda t: fft.fftshift(t(X)),
    "signal.fftconvolve": lambda t: signal.fftconvolve(t(X), t(Y)),
    "signal.hilbert": lambda t: signal.hilbert(t(X), axis=0),
    "signal.detrend": lambda t: signal.detrend(t(X), axis=0),
    "special.logsumexp": lambda t: special.logsumexp(t(X), axis=0),
    "special.softmax": lambda t: special.softmax(t(X), axis=1),
    "special.erf": lambda t: special.erf(t(X)),
    "special.gammaln": lambda t: special.gammaln(t(np.abs(X))),
    "special.xlogy": lambda t: special.xlogy(t(np.abs(X)), t(np.abs(Y))),
    "special.expit": lambda t: special.expit(t(X)),
    "cluster.whiten": lambda t: cluster.vq.whiten(t(X)),
    "cluster.linkage": lambda t: cluster.hierarchy.linkage(t(X)),
    "integrate.trapezoid": lambda t: integrate.trapezoid(t(X), axis=0),
    "integrate.tanhsinh": lambda t: (
        integrate.tanhsinh(lambda x: x * x, t(np.zeros(2)), t(np.ones(2))).integral
    ),
    "ndimage.gaussian_filter": lambda t: ndimage.gaussian_filter(t(X), 1.0),
    "Rotation.as_matrix": lambda t: Rotation.from_quat(t(Y)).as_matrix(),
}

for name, case in CASES.items():
    theirs = case(np.asarray)
    for make in (torch.asarray, xp.asarray):
        ours = case(make)
        if isinstance(theirs, np.ndarray):
            assert isinstance(ours, torch.Tensor), (name, type(ours))
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-7, atol=1e-10, err_msg=name)
    print(name, "agrees")

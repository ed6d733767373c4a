"""scikit-learn with dispatch by the array API: tensors in, tensors out, and NumPy's numbers."""

import warnings

import numpy as np
from sklearn import config_context, metrics
from sklearn.datasets import make_classification, make_regression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import pairwise
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    KernelCenterer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    StandardScaler,
)

import mindtorch_core as torch
from mindtorch_core import array_api as xp

warnings.simplefilter("ignore")
X, CLASSES = make_classification(80, 6, n_informative=4, n_classes=3, random_state=0)
XR, TARGETS = make_regression(80, 6, random_state=0)
GUESSES, POSITIVE = np.roll(CLASSES, 7), np.abs(TARGETS) + 1


def pca(solver):
    return lambda t: abs(PCA(2, svd_solver=solver).fit_transform(t(X)))


def there_and_back(t):
    fitted = PCA(3, svd_solver="full").fit(t(X))
    return fitted.inverse_transform(fitted.transform(t(X)))


def lda(method):
    return lambda t: getattr(LinearDiscriminantAnalysis().fit(t(X), t(CLASSES)), method)(t(X))


def scaled(scaler):
    return lambda t: scaler().fit_transform(t(X))


CASES = {
    "PCA full": pca("full"),
    "PCA covariance": pca("covariance_eigh"),
    "PCA inverse": there_and_back,
    "LDA predict": lda("predict"),
    "LDA predict_proba": lda("predict_proba"),
    "LDA transform": lambda t: abs(lda("transform")(t)),
    "Ridge": lambda t: Ridge(solver="svd").fit(t(XR), t(TARGETS)).predict(t(XR)),
    "pipeline": lambda t: make_pipeline(StandardScaler(), PCA(3, svd_solver="full"), Ridge(solver="svd"))
    .fit(t(XR), t(TARGETS)).predict(t(XR)),
    "train_test_split": lambda t: train_test_split(t(X), random_state=0)[1],
    "cross_val_predict": lambda t: cross_val_predict(LinearDiscriminantAnalysis(), t(X), t(CLASSES)),
    "KernelCenterer": lambda t: KernelCenterer().fit_transform(t(X @ X.T)),
    "LabelEncoder": lambda t: LabelEncoder().fit_transform(t(CLASSES)),
    **{
        each.__name__: scaled(each)
        for each in (StandardScaler, MinMaxScaler, MaxAbsScaler, Normalizer, Binarizer)
    },
    **{
        name: lambda t, name=name: getattr(metrics, name)(t(CLASSES), t(GUESSES))
        for name in ("accuracy_score", "zero_one_loss", "confusion_matrix", "hamming_loss")
    },
    **{
        name: lambda t, name=name: getattr(metrics, name)(t(CLASSES), t(GUESSES), average="macro")
        for name in ("f1_score", "precision_score", "recall_score", "jaccard_score")
    },
    **{
        name: lambda t, name=name: getattr(metrics, name)(t(POSITIVE), t(np.roll(POSITIVE, 1)))
        for name in (
            "mean_absolute_error", "mean_squared_error", "r2_score", "explained_variance_score",
            "max_error", "mean_tweedie_deviance", "mean_squared_log_error",
        )
    },
    **{
        name: lambda t, name=name: getattr(pairwise, name)(t(np.abs(X)))
        for name in ("euclidean_distances", "cosine_similarity", "rbf_kernel", "chi2_kernel")
    },
}  # fmt: skip

for name, case in CASES.items():
    theirs = case(np.asarray)
    for make in (torch.asarray, xp.asarray):
        with config_context(array_api_dispatch=True):
            ours = case(make)
        if name != "confusion_matrix":  # which goes through NumPy
            assert type(ours) is type(make(theirs)) or not isinstance(theirs, np.ndarray), name
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-6, atol=1e-8, err_msg=name)
    print(name, "agrees")
